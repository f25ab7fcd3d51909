import Bytes
import Identities
import Primitives
import Relaying
import Sessions
import Streams
import Telemetry
import TestKit
import Testing
import WireFormat

@testable import NodeRuntime

/// A member of the mesh, with a link and a card of its own, that writes what it may not. Names begin with the row of the
/// threat.
@Suite struct ForgedContentTests {
  /// A chain of mallory, relay, victim; alice is at the victim's other side. Everybody's keys are known to the test.
  private struct Scene {
    let mesh: Mesh
    let keys: [[UInt8]]

    init(seed: UInt64) throws {
      mesh = Mesh(seed: seed)
      let wall = mesh.simulation.time.source.wallMilliseconds()
      keys = try (0..<4).map { _ in
        let keys = try IdentityKeys(generatedFrom: .system, now: wall)
        let secret = try keys.export()
        return [UInt8](copying: secret.bytes)
      }
      for (index, name) in ["mallory", "relay", "victim", "alice"].enumerated() {
        try mesh.add(name, keys: keys[index])
      }
      mesh.joinChain()
      mesh.run(for: .seconds(30))
      try #require(mesh.isAcquainted(), "seed \(seed)")
    }

    var wall: UInt64 { mesh.simulation.time.source.wallMilliseconds() }

    func identity(_ index: Int) throws -> IdentityKeys {
      let bytes = keys[index]
      return try IdentityKeys(importing: bytes.rawSpan, random: .system)
    }

    var victim: Session { mesh.members[2].node.session }

    /// A personal packet to the victim, as mallory makes it.
    func seal(_ substance: MessageContent.Substance, naming sender: Int, origin: Int, key: Int) throws -> Packet {
      let wall = wall
      let victim = try identity(2)
      let content = MessageContent(
        id: MessageID(high: 7, low: 7), substance: substance)
      let body = try PersonalSeal.seal(
        content.encoded, from: identity(sender).id, key: identity(key).sharedAgreementKey(), to: victim.id,
        prekey: victim.currentPrekey, time: wall, random: .system)
      return try PacketDraft(
        kind: .personal, time: wall, origin: Tag(rawValue: identity(origin).id.tag),
        destination: Tag(rawValue: victim.id.tag), body: body
      ).unsigned()
    }

    func originate(_ packet: Packet) throws {
      let relay = mesh.members[0].node.relay
      _ = try mesh.call {
        var identifier = try PacketIdentifier()
        return await relay.originate(packet, id: try identifier.id(of: packet))
      }
      mesh.run(for: .seconds(10))
    }
  }

  @Test func threat06_sealNamingAnotherIsRefused() throws {
    let scene = try Scene(seed: 61)
    defer { scene.mesh.stop() }
    try scene.originate(try scene.seal(.text("honest"), naming: 0, origin: 0, key: 0))
    #expect(scene.mesh.heard[2] == ["honest": 1], "what mallory says in its own name does arrive")
    try scene.originate(try scene.seal(.text("I am alice"), naming: 3, origin: 3, key: 0))
    #expect(scene.mesh.heard[2] == ["honest": 1])
    #expect(scene.victim.counters[.sealOfAnotherKey] == 1)
  }

  @Test func threat06_sealUnderAnothersOriginIsRefused() throws {
    let scene = try Scene(seed: 62)
    defer { scene.mesh.stop() }
    try scene.originate(try scene.seal(.text("sent as alice"), naming: 0, origin: 3, key: 0))
    #expect(scene.mesh.heard[2].isEmpty)
    #expect(scene.victim.counters[.sealOfAnotherOrigin] == 1)
  }

  @Test func threat06_cardUnderAnothersOriginIsRefused() throws {
    let scene = try Scene(seed: 63)
    defer { scene.mesh.stop() }
    let stranger = try IdentityKeys(generatedFrom: .system, now: scene.wall)
    let card = try stranger.makeCard(
      name: try PeerName("stranger"), icon: .none, capabilities: [], sequence: 1, now: scene.wall)
    let packet = try PacketDraft(
      kind: .card, time: scene.wall, origin: Tag(rawValue: try scene.identity(0).id.tag), body: card.encoded
    ).unsigned()
    try scene.originate(packet)
    #expect(scene.victim.counters[.cardsRefused] == 1)
    let (victim, id) = (scene.victim, card.id)
    #expect(try scene.mesh.call { await victim.peer(id) == nil })
  }

  @Test func threat07_forgedBroadcastReachesNoScreen() throws {
    let scene = try Scene(seed: 64)
    defer { scene.mesh.stop() }
    let content = MessageContent(
      id: MessageID(high: 9, low: 9), substance: .text("alice says"))
    let mallory = try scene.identity(0)
    try scene.originate(
      try PacketDraft(
        kind: .public, time: scene.wall, origin: Tag(rawValue: try scene.identity(3).id.tag), body: content.encoded
      ).signed { region in try mallory.sign(.packetSignature, region) })
    #expect(scene.mesh.heard[2].isEmpty && scene.mesh.heard[3].isEmpty)
    #expect(scene.victim.counters[.signatureRefused] == 1)
  }

  @Test func threat08_messageSealedTwiceIsShownOnce() throws {
    let scene = try Scene(seed: 66)
    defer { scene.mesh.stop() }
    for _ in 0..<3 { try scene.originate(try scene.seal(.text("again"), naming: 0, origin: 0, key: 0)) }
    #expect(scene.mesh.heard[2] == ["again": 1], "three packets, each new to the mesh, with one message")
  }

  @Test func receiptOfAnotherIsIgnored() throws {
    let scene = try Scene(seed: 65)
    defer { scene.mesh.stop() }
    let (victim, alice) = (scene.victim, try scene.identity(3).id)
    let sent = try scene.mesh.call { try await victim.send("did you get this?", to: .peer(alice)) }
    scene.mesh.run(for: .seconds(10))
    #expect(try scene.mesh.call { try await victim.message(sent.id)?.state } == .delivered)
    // Only whom it was for can say that it was read.
    try scene.originate(try scene.seal(.read([sent.id]), naming: 0, origin: 0, key: 0))
    #expect(try scene.mesh.call { try await victim.message(sent.id)?.state } == .delivered)
    #expect(victim.counters[.receiptsOfAnother] == 1)
  }

  @Test func packetUnderOurOwnOriginIsCountedAndNotShown() throws {
    let scene = try Scene(seed: 67)
    defer { scene.mesh.stop() }
    let mallory = try scene.identity(0)
    let content = MessageContent(id: MessageID(high: 9, low: 9), substance: .text("I say"))
    try scene.originate(
      try PacketDraft(
        kind: .public, time: scene.wall, origin: Tag(rawValue: scene.victim.ownID.tag), body: content.encoded
      ).signed { region in try mallory.sign(.packetSignature, region) })
    #expect(scene.mesh.heard[2].isEmpty && scene.victim.counters[.ownOrigin] == 1)
  }
}
