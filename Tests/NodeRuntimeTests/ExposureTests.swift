import Bytes
import Identities
import Links
import Sessions
import Testing
import WireFormat

@testable import NodeRuntime

/// What the seals do not hide, shown as plainly as what they do: the README's list is made from these names.
@Suite struct ExposureTests {
  /// Three nodes in a row, known to each other, and a tap on the air.
  private func chain(seed: UInt64) throws -> (mesh: Mesh, tap: SealTests.Tap) {
    let tap = SealTests.Tap()
    let mesh = Mesh(seed: seed, tap: { tap.hear($0) })
    for name in ["alice", "relay", "robert"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    try #require(mesh.isAcquainted())
    return (mesh, tap)
  }

  @Test func exposed_relaysSeeWhoWritesToWhom() throws {
    let (mesh, _) = try chain(seed: 71)
    let (alice, robert) = (mesh.members[0].node.session, mesh.members[2].node.session.ownID)
    let sent = try mesh.call { try await alice.send("between us", to: .peer(robert)) }
    let packet = try #require(sent.packet)
    let header = try PacketHeader(decoding: packet.rawSpan)
    #expect(header.origin == Tag(rawValue: alice.ownID.tag) && header.destination == Tag(rawValue: robert.tag))
    mesh.stop()
  }

  @Test func exposed_sizesInBucketsAndTimesShowOnTheAir() throws {
    let (mesh, tap) = try chain(seed: 72)
    let (alice, robert) = (mesh.members[0].node.session, mesh.members[2].node.session.ownID)
    func bytes(of text: String) throws -> Int {
      mesh.run(for: .seconds(2))
      let before = tap.frames.reduce(0) { $0 + $1.count }
      _ = try mesh.call { try await alice.send(text, to: .peer(robert)) }
      mesh.run(for: .seconds(2))
      return tap.frames.reduce(0) { $0 + $1.count } - before
    }
    let letters = (0..<3_000).map { _ in "abcdefghijklmnopqrstuvwxyz0123456789".randomElement() ?? "a" }
    let (short, long) = (try bytes(of: "yes"), try bytes(of: String(letters)))
    #expect(short > 0 && long > short + 2_000, "\(short) bytes against \(long)")
    mesh.stop()
  }

  @Test func exposed_whoeverIsNearLearnsNameAndKeysOfANodeOfTheOpenMesh() throws {
    let mesh = Mesh(seed: 73)
    for name in ["alice", "stranger"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    let known = try mesh.call { await mesh.members[1].node.session.peers().map(\.card.card.name.text) }
    #expect(known == ["alice"])
    mesh.stop()
  }

  @Test func exposed_publicMessagesAreReadByEveryNode() throws {
    let (mesh, _) = try chain(seed: 74)
    let alice = mesh.members[0].node.session
    _ = try mesh.call { try await alice.send("for all", to: .everyone) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[1]["for all"] == 1 && mesh.heard[2]["for all"] == 1)
    mesh.stop()
  }
}
