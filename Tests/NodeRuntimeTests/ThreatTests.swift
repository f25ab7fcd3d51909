import Bytes
import Identities
import MemoryTransport
import Primitives
import Relaying
import Sessions
import Streams
import Telemetry
import TestKit
import Testing
import WireFormat

@testable import NodeRuntime

/// Threats that need more than two sides. Names begin with the row of the threat.
@Suite struct ThreatTests {
  private func chain(seed: UInt64) throws -> Mesh {
    let mesh = Mesh(seed: seed)
    for name in ["A", "relay", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    try #require(mesh.isAcquainted())
    return mesh
  }

  @Test func threat05_stolenStaticKeyOpensNothingAndAnErasedPrekeyNeither() throws {
    let wall: UInt64 = 1_767_225_600_000
    let alice = try IdentityKeys(generatedFrom: .system, now: wall)
    var bob = try IdentityKeys(generatedFrom: .system, now: wall)
    let prekey = bob.currentPrekey
    let body = try PersonalSeal.seal(
      [1, 2, 3], from: alice.id, key: alice.sharedAgreementKey(), to: bob.id, prekey: prekey, time: wall,
      random: .system)
    func thief(_ key: OwnPrekey?) -> Bool {
      (try? PersonalSeal.open(body, as: bob.id, time: wall, random: .system) { _ in key }) != nil
    }
    #expect(thief(bob.prekey(id: prekey.id)), "with the retained prekey it does open: the test can see")
    for hour in stride(from: UInt64(1), through: 71, by: 1) { _ = try bob.rotateIfDue(now: wall + hour * 3_600_000) }
    #expect(bob.prekey(id: prekey.id) != nil)
    _ = try bob.rotateIfDue(now: wall + 72 * 3_600_000)
    #expect(bob.prekey(id: prekey.id) == nil, "the private half is gone after 72 hours")
    for id in bob.prekeyIDs { #expect(!thief(bob.prekey(id: id)), "every key left opens nothing of before") }
  }

  @Test func threat07_forgedBroadcastIsNotShown() throws {
    let wall: UInt64 = 1_767_225_600_000
    let keys = try IdentityKeys(generatedFrom: .system, now: wall)
    let packet = try PacketDraft(
      kind: .public, time: wall, origin: Tag(rawValue: keys.id.tag), body: Array("signed".utf8)
    ).signed { region in try keys.sign(.packetSignature, region) }
    try packet.verifySignature(by: keys.signingKey)
    for index in packet.header.identifiedRange {
      var bytes = packet.encoded
      bytes[index] ^= 1
      guard let forged = try? Packet(decoding: bytes) else { continue }
      #expect(throws: PrimitiveError.self, "byte \(index)") { try forged.verifySignature(by: keys.signingKey) }
    }
    let other = try IdentityKeys(generatedFrom: .system, now: wall)
    let resigned = try PacketDraft(
      kind: .public, time: wall, origin: Tag(rawValue: keys.id.tag), body: Array("signed".utf8)
    ).signed { region in try other.sign(.packetSignature, region) }
    #expect(throws: PrimitiveError.self) { try resigned.verifySignature(by: keys.signingKey) }
  }

  @Test func threat08_oldPacketsAreShownOnceAlsoAfterARestart() throws {
    let mesh = Mesh(seed: 42)
    let store = MemoryStore()
    try mesh.add("A")
    try mesh.add("B", store: store)
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let sender = mesh.members[0].node
    let sent = try mesh.call { try await sender.session.send("once", to: .everyone) }
    mesh.run(for: .seconds(10))
    mesh.remove("B")
    try mesh.add("B", store: store)
    mesh.run(for: .seconds(60))
    let packet = try Packet(decoding: try #require(sent.packet))
    for _ in 0..<3 {
      _ = try mesh.call {
        var identifier = try PacketIdentifier()
        return await sender.relay.originate(packet, id: try identifier.id(of: packet))
      }
      mesh.run(for: .seconds(10))
    }
    #expect(mesh.heard[1]["once"] == 1 && mesh.heard[2]["once"] == nil)
    mesh.stop()
  }

  @Test func threat12_forgedPacketsUnderAnothersTagDoNotHideWhatItSays() throws {
    let mesh = try chain(seed: 43)
    let sender = mesh.members[0].node.session
    let mallory = try Adversary("mallory", on: mesh)
    let link = try mallory.join("relay")
    let content = MessageContent(id: MessageID(high: 4, low: 4), substance: .text("forged")).encoded
    for number in 0..<20 as Range<UInt64> {
      let forged = try PacketDraft(
        kind: .public, time: mesh.simulation.time.source.wallMilliseconds() - number,
        origin: Tag(rawValue: sender.ownID.tag), body: content
      ).signed { _ in [UInt8](repeating: 1, count: 64) }
      try link.send(packet: forged.encoded)
    }
    mesh.run(for: .seconds(5))
    #expect(mesh.members[1].node.session.counters[.signatureRefused] == 20)
    #expect(mesh.heard[1].isEmpty && mesh.heard[2].isEmpty)
    _ = try mesh.call { try await sender.send("real", to: .everyone) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[1] == ["real": 1] && mesh.heard[2] == ["real": 1])
    mesh.stop()
    mallory.stop()
  }

  @Test(arguments: [0, 4_070_908_800_000] as [UInt64])
  func clockIsNotAssumed(wall: UInt64) throws {
    let mesh = Mesh(seed: 44, wallMilliseconds: wall)
    for name in ["A", "B", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    let (near, far) = (mesh.members[0].node.session, mesh.members[2].node.session.ownID)
    _ = try mesh.call { try await near.send("public", to: .everyone) }
    _ = try mesh.call { try await near.send("personal", to: .peer(far)) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[2] == ["public": 1, "personal": 1], "a node that boots in 1970 or 2099 talks like any other")
    mesh.stop()
  }
}
