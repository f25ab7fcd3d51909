import Bytes
import CNonces
import ControlAPI
import MemoryTransport
import Primitives
import Routing
import Sessions
import Streams
import Telemetry
import TestKit
import Testing

@testable import NodeRuntime

/// One state directory in two places, or put back as it was: what would make a counter start again under an old key.
@Suite struct CloneTests {
  struct Sealed: Hashable {
    var key: [UInt8]
    var nonce: [UInt8]
  }

  /// What was sealed on this thread, on which whole meshes run.
  private func record(_ body: () throws -> Void) rethrows -> [Sealed] {
    cnonces_start()
    try body()
    let count = cnonces_stop()
    return (0..<count).map { index in
      var pair = cnonces_pair_at(index)
      return unsafe withUnsafeBytes(of: &pair) { bytes in
        unsafe Sealed(key: Array(bytes[..<32]), nonce: Array(bytes[32...]))
      }
    }
    // The last nonce makes the next key out of the old one, on both sides alike: it seals zeros and is never sent.
    .filter { $0.nonce != [0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8) }
  }

  @Test func theRecorderSeesARepeatedNonce() throws {
    let sealed = try record {
      let secret = [UInt8](repeating: 7, count: 32)
      for _ in 0..<2 {
        var key = try AEADKey(.aes256GCM, key: secret.rawSpan)
        var buffer: [UInt8] = []
        for counter in 0..<3 as Range<UInt64> {
          try key.seal(
            secret.rawSpan, nonce: AEADNonce(bigEndian: counter), authenticating: secret.rawSpan, appendingTo: &buffer)
        }
      }
    }
    #expect(sealed.count == 6 && Set(sealed).count == 3)
    #expect(sealed[0].key == [UInt8](repeating: 7, count: 32) && sealed[2].nonce.last == 2)
  }

  @Test func copyOfOurStateIsNoticedByItsCardAndItsMessages() throws {
    let sink = MemoryLogSink()
    let mesh = Mesh(seed: 192, log: Log(label: "node", threshold: .warning, sink: sink))
    // Two in between: one peer would hold one link to the two of them.
    for name in ["A", "B", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let original = mesh.members[0].node
    _ = try mesh.call { try await original.session.send("said by the original", to: .everyone) }
    mesh.run(for: .seconds(5))
    #expect(original.copies.alarmNow.count == 0, "alone there is nothing to notice")

    try mesh.add("clone", profileName: "A", keys: mesh.storedKeys["A"], cardSequence: 2)
    let clone = mesh.members[3].node
    mesh.medium.setReach("C", "clone", true)
    mesh.run(for: .seconds(60))
    #expect(original.copies.counters[.card] >= 1, "a card of ours that is newer than ours")
    #expect(clone.copies.counters[.message] == 1, "what the original has said is not in the copy's archive")
    #expect(original.copies.counters[.message] == 0)
    for number in 0..<5 {
      _ = try mesh.call { try await clone.session.send("said by the copy \(number)", to: .everyone) }
      mesh.run(for: .seconds(5))
    }
    #expect(original.copies.counters[.message] == 5)
    #expect(
      StatusAnswer.IdentityElsewhere(original.copies.alarmNow, now: mesh.simulation.time.now)?.evidence == "message")
    func lines() -> Int { sink.records.count { $0.message.description.contains("with the signature of this node") } }
    #expect(lines() == 2, "one line of each of the two")
    mesh.run(for: .seconds(3_700))
    _ = try mesh.call { try await clone.session.send("an hour later", to: .everyone) }
    mesh.run(for: .seconds(10))
    #expect(original.copies.counters[.message] == 6 && lines() == 3)
    mesh.stop()
  }

  @Test func copyOfOurStateOnALinkIsNoticedByItsHandshake() throws {
    let sink = MemoryLogSink()
    let mesh = Mesh(seed: 193, log: Log(label: "node", threshold: .warning, sink: sink))
    try mesh.add("A")
    try mesh.add("clone", profileName: "A", keys: mesh.storedKeys["A"], cardSequence: 2)
    mesh.joinChain()
    mesh.run(for: .seconds(600))
    let met = mesh.members.map { $0.node.copies.counters[.handshake] }
    #expect(met.max()! > 1, "it is dialled again, and met again: \(met)")
    let lines = sink.records.count { $0.message.description.contains("another node runs with the same keys") }
    #expect(lines == met.count { $0 > 0 }, "each says so once within the hour")
    mesh.stop()
  }

  @Test func nodeThatComesBackDoesNotTakeItselfForACopy() throws {
    let mesh = Mesh(seed: 194)
    let (store, seen) = (MemoryStore(), MemorySeenStore())
    try mesh.add("A", store: store, seenStore: seen)
    try mesh.add("B")
    try mesh.add("C")
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    for run in 2...4 as ClosedRange<UInt64> {
      let session = mesh.members[mesh.members.count - (run == 2 ? 3 : 1)].node.session
      _ = try mesh.call { try await session.send("in run \(run)", to: .everyone) }
      mesh.run(for: .seconds(run == 3 ? 45 : 3))
      // Killed, so that the end of what it has seen is lost every time but one.
      seen.isFrozen = true
      mesh.remove("A")
      seen.isFrozen = false
      try mesh.add("A", store: store, keys: mesh.storedKeys["A"], cardSequence: run, seenStore: seen)
      mesh.medium.setReach("A", "B", true)
      mesh.run(for: .seconds(60))
    }
    for member in mesh.members { #expect(member.node.copies.alarmNow.count == 0, "\(member.name)") }
    mesh.stop()
  }

  @Test func threat19_twoCopiesOfOneStateNeverSealUnderOneKeyAndNonce() throws {
    let sealed = try record {
      let mesh = Mesh(seed: 191)
      for name in ["B", "C"] { try mesh.add(name) }
      try mesh.add("A")
      let snapshot = mesh.storedKeys["A"]
      mesh.medium.setReach("A", "B", true)
      mesh.run(for: .seconds(20))
      func talk(_ member: Int) throws {
        let session = mesh.members[member].node.session
        for number in 0..<10 {
          for other in [mesh.members[0].node.session.ownID, mesh.members[1].node.session.ownID] {
            _ = try? mesh.call { try await session.send("the same words \(number)", to: .peer(other)) }
          }
          _ = try mesh.call { try await session.send("the same words \(number)", to: .everyone) }
          mesh.run(for: .seconds(2))
        }
      }
      try talk(2)
      // The copy runs beside the original, first with another neighbour, then with the same.
      try mesh.add("clone", profileName: "A", keys: snapshot, cardSequence: 1)
      mesh.medium.setReach("clone", "C", true)
      mesh.medium.setReach("B", "C", true)
      mesh.run(for: .seconds(20))
      try talk(3)
      mesh.medium.setReach("clone", "B", true)
      mesh.run(for: .seconds(20))
      try talk(2)
      try talk(3)
      // And the original is put back as it was at the start.
      mesh.remove("A")
      try mesh.add("A", keys: snapshot, cardSequence: 1)
      mesh.run(for: .seconds(30))
      try talk(4)
      mesh.stop()
    }
    #expect(sealed.count > 500)
    #expect(Set(sealed).count == sealed.count, "a pair of key and nonce was used twice")
    print("seed 191: \(sealed.count) seals under \(Set(sealed.map(\.key)).count) keys, no pair twice")
  }
}
