import Links
import MemoryTransport
import Routing
import Sessions
import Streams
import Synchronization
import TestKit
import Testing

@testable import NodeRuntime

/// Two nodes that dial each other at the same moment end with one logical link.
@Suite struct MutualDialTests {
  /// Holds every dial until both sides have one in flight, or the test lets go.
  final class Barrier: Sendable {
    private struct State: Sendable {
      var waiting: [String: [Channel<Void>]] = [:]
      var overlaps = 0
    }

    private let state = Protected(State())

    var overlaps: Int { state.withLock { $0.overlaps } }

    func wait(from: String) async {
      let gate = Channel<Void>(capacity: 1)
      let opened = state.withLock { state -> [Channel<Void>] in
        state.waiting[from, default: []].append(gate)
        guard state.waiting.count == 2 else { return [] }
        state.overlaps += 1
        let gates = state.waiting.values.flatMap { $0 }
        state.waiting = [:]
        return gates
      }
      opened.forEach { $0.offer(()) }
      _ = await gate.next()
    }

    func release() {
      let gates = state.withLock { state in
        let gates = state.waiting.values.flatMap { $0 }
        state.waiting = [:]
        return gates
      }
      gates.forEach { $0.offer(()) }
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func oneLogicalLinkRemains(seed: UInt64) throws {
    let rounds = 100
    let barrier = Barrier()
    let mesh = Mesh(seed: seed, dialGate: { from, _ in await barrier.wait(from: from) })
    for name in ["A", "B"] { try mesh.add(name) }
    mesh.medium.setReach("A", "B", true)
    var random = SeededGenerator(seed: seed)
    var sent = 0
    for round in 0..<rounds {
      var waited = 0
      while try activeLinks(mesh) != [1, 1] {
        // A dial of one side alone is let go after a while, as a real one would be.
        if !mesh.run(for: .seconds(5), until: { false }) { barrier.release() }
        waited += 1
        try #require(waited < 20, "seed \(seed) round \(round): no link")
      }
      let sender = mesh.members[round % 2].node.session
      for _ in 0..<3 {
        if mesh.isAcquainted() {
          let text = "\(sent)"
          _ = try mesh.call { try await sender.send(text, to: .everyone) }
          sent += 1
        }
        mesh.run(for: .milliseconds(Int.random(in: 0...30, using: &random)))
      }
      mesh.run(for: .seconds(2))
      #expect(try activeLinks(mesh) == [1, 1], "seed \(seed) round \(round)")
      #expect(try openLinks(mesh) == [1, 1], "seed \(seed) round \(round)")
      mesh.medium.breakLinks("A", "B")
      mesh.run(for: .milliseconds(1))
    }
    mesh.run(for: .seconds(1))
    barrier.release()
    mesh.run(for: .seconds(60)) {
      barrier.release()
      return mesh.heard[0].count + mesh.heard[1].count >= sent
    }
    #expect(mesh.heard[0].count + mesh.heard[1].count == sent, "seed \(seed): lost")
    #expect(mesh.heard.allSatisfy { $0.values.allSatisfy { $0 == 1 } }, "seed \(seed): doubled")
    #expect(barrier.overlaps >= rounds * 9 / 10, "seed \(seed): only \(barrier.overlaps) dials overlapped")
    print("seed \(seed): \(rounds) rounds, \(barrier.overlaps) dials overlapped, \(sent) messages")
    mesh.stop()
  }

  private func activeLinks(_ mesh: Mesh) throws -> [Int] {
    try mesh.members.map { member in
      try mesh.call { await member.node.links.records().count { $0.isActive && $0.step == .ready } }
    }
  }

  private func openLinks(_ mesh: Mesh) throws -> [Int] {
    try mesh.members.map { member in try mesh.call { await member.node.links.records().count { $0.link != nil } } }
  }
}
