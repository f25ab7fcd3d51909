import Streams
import TestKit
import Testing
import WireFormat

@testable import Routing

/// Relays with trees, a few at a time, in virtual time.
@Suite struct EngineTreeTests {
  @Test(arguments: [UInt64(1), 2, 3, 4])
  func theSecondPacketTakesATree(seed: UInt64) throws {
    for (count, edges) in [(12, EngineMesh.ring(12)), (25, EngineMesh.grid(5))] {
      var mesh = EngineMesh(count, edges: edges, seed: seed)
      let first = try mesh.spread(3)
      check(first.reached == count && first.sends > count - 1, "seed \(seed)")
      for _ in 0..<5 {
        let next = try mesh.spread(3)
        check(next.reached == count && next.sends == count - 1, "seed \(seed)")
      }
      // Another origin has its own tree.
      _ = try mesh.spread(7)
      check(try mesh.spread(7) == (count - 1, count), "seed \(seed)")
    }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func manyAtOnceStarveNobody(seed: UInt64) throws {
    var mesh = EngineMesh(25, edges: EngineMesh.grid(5), seed: seed)
    var keys: [UInt64] = []
    // Packets and prunes of the same origins cross each other.
    for round in 0..<40 {
      keys.append(try mesh.say(round % 3))
      mesh.run(for: .milliseconds(20))
    }
    mesh.run(for: .seconds(5))
    check(keys.allSatisfy { mesh.reached[$0]?.count == 25 }, "seed \(seed)")
    check(try mesh.spread(0) == (24, 25), "seed \(seed)")
  }

  @Test func aLostPruneIsSentAgainWithTheNextCopy() throws {
    var mesh = EngineMesh(16, edges: EngineMesh.grid(4))
    mesh.isLost = { event in
      if case .control(.prune) = event.load { true } else { false }
    }
    let first = try mesh.spread(0)
    check(try mesh.spread(0).sends == first.sends)
    mesh.isLost = { _ in false }
    _ = try mesh.spread(0)
    check(try mesh.spread(0) == (15, 16))
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func aLostParentIsReplacedAtOnce(seed: UInt64) throws {
    var mesh = EngineMesh(16, edges: EngineMesh.grid(4), seed: seed)
    for _ in 0..<3 { _ = try mesh.spread(0) }
    for (one, other) in [(5, 6), (9, 10), (1, 2), (4, 8)] {
      mesh.cut(one, other)
      check(try mesh.spread(0).reached == 16, "seed \(seed)")
    }
    _ = try mesh.spread(0)
    check(try mesh.spread(0) == (15, 16), "seed \(seed)")
  }

  @Test(arguments: [UInt64(1), 2, 3, 4, 5])
  func whatIsLostIsAskedFor(seed: UInt64) throws {
    var mesh = EngineMesh(25, edges: EngineMesh.grid(5), seed: seed)
    for _ in 0..<2 { _ = try mesh.spread(0) }
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let victim = Int.random(in: 1..<25, using: &generator)
      // Whatever one node is sent at first is lost, and is sent again below much later than the neighbours announce it.
      let until = mesh.now.advanced(by: .milliseconds(700))
      mesh.isLost = { event in
        guard case .packet = event.load else { return false }
        return event.to == victim && event.at < until
      }
      check(try mesh.spread(0, wait: .seconds(6)).reached == 25, "seed \(seed) victim \(victim)")
    }
    check((mesh.counts[.graftsAnswered] ?? 0) > 0)
  }

  @Test func aNodeWithoutTreesInTheMiddleLosesNothing() throws {
    for old in [[4], [1, 3, 5, 7], [0, 4, 8]] as [Set<Int>] {
      var mesh = EngineMesh(9, edges: EngineMesh.grid(3), withoutTrees: old)
      for node in 0..<9 {
        for _ in 0..<2 { check(try mesh.spread(node).reached == 9, "\(old)") }
      }
      // A newcomer gets what was said before from either kind.
      let key = try mesh.say(2)
      mesh.run(for: .seconds(3))
      mesh.engines.append(
        RelayEngine(configuration: .init(key: (5, 5), ownEntry: 99, ownTag: EngineMesh.tag(9))))
      mesh.neighbours.append([])
      mesh.link(old.first!, 9)
      mesh.run(for: .seconds(5))
      check(mesh.reached[key]?.contains(9) == true, "\(old)")
    }
  }

  @Test func aNewcomerGetsWhatItMissesByItsKeys() throws {
    var mesh = EngineMesh(3, edges: [(0, 1)])
    let keys = try (0..<300).map { _ in try mesh.say(0) }
    mesh.run(for: .seconds(20))
    mesh.link(1, 2)
    mesh.run(for: .seconds(20))
    check(keys.allSatisfy { mesh.reached[$0]?.contains(2) == true })
    // It comes back and has all of them: nothing is sent.
    let before = mesh.sends
    let grafts = mesh.counts[.graftsSent]
    mesh.cut(1, 2)
    mesh.link(1, 2)
    mesh.run(for: .seconds(20))
    check(mesh.sends == before && mesh.counts[.graftsSent] == grafts)
  }

  @Test func aHostilePruneCostsItsOwnLinkOnly() throws {
    var mesh = EngineMesh(9, edges: EngineMesh.grid(3))
    for _ in 0..<2 { _ = try mesh.spread(0) }
    let all = (0..<9).map(EngineMesh.tag)
    // Node 8 wants nothing any more and asks again and again; it hears of everything all the same.
    for neighbour in [5, 7] { mesh.inject(.prune(all), from: 8, to: neighbour) }
    mesh.run(for: .seconds(1))
    let next = try mesh.spread(0, wait: .seconds(6))
    check(next.reached == 9, "the announcement is answered")
    for neighbour in [5, 7] { mesh.inject(.prune(all), from: 8, to: neighbour) }
    mesh.run(for: .seconds(1))
    let key = try mesh.say(0)
    mesh.run(for: .milliseconds(300))
    check(mesh.reached[key]?.isSuperset(of: 0..<8) == true)
  }

  @Test func announcedSpamMakesOneOpenQuestionForEachKey() throws {
    var mesh = EngineMesh(3, edges: [(0, 1), (1, 2)])
    for key in UInt64(0)..<40 {
      mesh.inject(.announcement((0..<60).map { key * 60 + $0 + 1 }), from: 0, to: 1)
    }
    for _ in 0..<100 {
      mesh.run(for: .milliseconds(50))
      check(mesh.engines[1].missing.count <= RoutingLimits.missingPerLink)
      check(mesh.engines[1].missing.underWay(on: 0) <= RoutingLimits.graftsPerLink)
    }
    check((mesh.counts[.missingFull] ?? 0) > 0)
    check(try mesh.spread(2).reached == 3)
    mesh.run(for: .seconds(300))
    check(mesh.engines[1].missing.isEmpty && (mesh.counts[.missingGivenUp] ?? 0) > 0)
  }

  @Test func inventedOriginsAreBoundedAndTheOthersKeepTheirTrees() throws {
    var mesh = EngineMesh(9, edges: EngineMesh.grid(3))
    for _ in 0..<2 { _ = try mesh.spread(8) }
    for number in UInt64(0)..<1_500 {
      try mesh.say(0, as: WireFormat.Tag(rawValue: 1_000_000 + number))
      mesh.run(for: .milliseconds(5))
    }
    mesh.run(for: .seconds(3))
    for engine in mesh.engines { check(engine.trees.count <= RoutingLimits.treeOrigins) }
    let next = try mesh.spread(8)
    check(next.reached == 9 && next.sends <= 10)
  }

  @Test func framesOfTheTreesFromNowhereAreCounted() {
    var engine = RelayEngine(configuration: .init(key: (1, 2), ownEntry: 1, ownTag: EngineMesh.tag(0)))
    var actions: [RelayAction] = []
    for slot in [-1, 0, 5, 62, 63, 64, .max] {
      engine.control(.prune([WireFormat.Tag(rawValue: 4)]), from: slot, now: .start, into: &actions)
    }
    check(engine.deadline == nil && engine.trees.count == 0)
  }

  @Test func anyFramesInAnyOrderAreTaken() throws {
    let seed: UInt64 = 0xF0_22
    var generator = SeededGenerator(seed: seed)
    var mesh = EngineMesh(9, edges: EngineMesh.grid(3), seed: seed)
    var keys: [UInt64] = []
    for _ in 0..<3_000 {
      let node = Int.random(in: 0..<9, using: &generator)
      let peer = mesh.neighbours[node].randomElement(using: &generator) ?? -1
      let numbers = (0..<Int.random(in: 1...60, using: &generator)).map { _ in
        keys.randomElement(using: &generator).flatMap { Bool.random(using: &generator) ? $0 : nil }
          ?? UInt64.random(in: 0..<12, using: &generator)
      }
      switch Int.random(in: 0..<10, using: &generator) {
      case 0 where peer >= 0: mesh.inject(.prune(numbers.map(WireFormat.Tag.init(rawValue:))), from: node, to: peer)
      case 1 where peer >= 0: mesh.inject(.announcement(numbers), from: node, to: peer)
      case 2 where peer >= 0: mesh.inject(.graft(numbers), from: node, to: peer)
      case 3 where peer >= 0: mesh.inject(.reopen(numbers.map(WireFormat.Tag.init(rawValue:))), from: node, to: peer)
      case 4 where peer >= 0: mesh.inject(.reopen([]), from: node, to: peer)
      case 5 where peer >= 0:
        mesh.cut(node, peer)
        mesh.link(node, peer)
      case 6: keys.append(try mesh.say(node))
      default: mesh.run(for: .milliseconds(Int.random(in: 1...40, using: &generator)))
      }
    }
    mesh.run(for: .seconds(30))
    check(try mesh.spread(4, wait: .seconds(8)).reached == 9, "seed \(seed)")
    check(keys.allSatisfy { mesh.reached[$0]?.count == 9 }, "seed \(seed)")
  }
}
