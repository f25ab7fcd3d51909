import Streams
import TestKit
import Testing
import WireFormat

@testable import Routing

/// Relays that meet late, and find out what either lacks.
@Suite struct EngineReconcilingTests {
  @Test(arguments: [UInt64(1), 2, 3])
  func twoMeshesThatMeetHaveEverythingEverywhere(seed: UInt64) throws {
    // Two rings of six.
    let edges = (0..<6).map { ($0, ($0 + 1) % 6) } + (0..<6).map { ($0 + 6, ($0 + 1) % 6 + 6) }
    var mesh = EngineMesh(12, edges: edges, seed: seed)
    var keys: [UInt64] = []
    for round in 0..<60 {
      keys.append(try mesh.say(round % 12))
      mesh.run(for: .milliseconds(100))
    }
    mesh.run(for: .seconds(5))
    check(keys.allSatisfy { mesh.reached[$0]?.count == 6 }, "seed \(seed)")
    mesh.link(2, 8)
    mesh.run(for: .seconds(20))
    check(keys.allSatisfy { mesh.reached[$0]?.count == 12 }, "seed \(seed)")
  }

  @Test func aNewcomerGetsWhatWasSaidBeforeItCame() throws {
    var mesh = EngineMesh(4, edges: [(0, 1), (1, 2)])
    let keys = try (0..<20).map { _ in try mesh.say(0) }
    mesh.run(for: .seconds(3_600))
    mesh.link(2, 3)
    mesh.run(for: .seconds(20))
    check(keys.allSatisfy { mesh.reached[$0]?.count == 4 })
  }

  @Test func aNewcomerOfTheFirstRulesGetsItToo() throws {
    var mesh = EngineMesh(3, edges: [(0, 1)], withoutTrees: [2])
    let keys = try (0..<20).map { _ in try mesh.say(0) }
    mesh.run(for: .seconds(60))
    mesh.link(1, 2)
    mesh.run(for: .seconds(20))
    check(keys.allSatisfy { mesh.reached[$0]?.count == 3 })
  }
}
