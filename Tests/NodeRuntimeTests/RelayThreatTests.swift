import Bytes
import Identities
import Links
import MemoryTransport
import Primitives
import Sessions
import Streams
import Telemetry
import TestKit
import Testing
import Transports
import WireFormat

@testable import NodeRuntime

/// Two nodes that can only reach each other over a relay of an adversary. Names begin with the row of the threat.
@Suite struct RelayThreatTests {
  private func bridged(seed: UInt64, store: MemoryStore = MemoryStore()) throws -> (Mesh, Bridge) {
    let mesh = Mesh(seed: seed)
    try mesh.add("A")
    try mesh.add("C", store: store)
    mesh.run(for: .seconds(1))
    let bridge = try Bridge("relay", between: "A", and: "C", on: mesh)
    bridge.run(for: .seconds(5))
    return (mesh, bridge)
  }

  private func card(of peer: PeerID, at member: Int, _ mesh: Mesh) throws -> VerifiedCard? {
    let session = mesh.members[member].node.session
    return try mesh.call { await session.peers().map(\.card).first { $0.id == peer } }
  }

  private func contains(_ bytes: [UInt8], anyEightOf text: [UInt8]) -> Bool {
    (0...text.count - 8).contains { start in
      bytes.count >= 8
        && (0...bytes.count - 8).contains { bytes[$0..<$0 + 8].elementsEqual(text[start..<start + 8]) }
    }
  }

  @Test func threat02_whatARelayOpensHoldsNoTextAndItsKeysOpenNoInnerSeal() throws {
    let (mesh, bridge) = try bridged(seed: 21)
    let (near, far) = (mesh.members[0].node.session, mesh.members[1].node.session)
    let canary = "canary: this text is for one person"
    for number in 0..<10 {
      let sent = try mesh.call { try await near.send("\(canary) \(number)", to: .peer(far.ownID)) }
      bridge.run(for: .seconds(1))
      try mesh.call { try await far.markRead([sent.id]) }
      _ = try mesh.call { try await near.send("for everybody \(number)", to: .everyone) }
      bridge.run(for: .seconds(1))
    }
    #expect(mesh.heard[1].count == 20, "the relay carries: it has seen every packet")
    #expect(
      bridge.contents.contains { contains($0, anyEightOf: Array("for everybody".utf8)) }, "what is public it reads")
    for content in bridge.contents { #expect(!contains(content, anyEightOf: Array(canary.utf8))) }

    let sealed = try bridge.packets(of: [.personal, .receipt])
    #expect(sealed.count >= 30, "ten messages, ten deliveries, ten readings")
    let relay = bridge.adversary
    let prekey = relay.keys.prekey(id: relay.keys.currentPrekey.id)
    for packet in sealed {
      for recipient in [near.ownID, far.ownID, relay.card.id] {
        #expect(throws: PersonalSealError.self) {
          try PersonalSeal.open(
            Array(packet.body), as: recipient, time: packet.header.time, random: .system
          ) { _ in prekey }
        }
      }
    }
    mesh.stop()
    bridge.stop()
  }

  /// The fields of a card by name, with their places in its bytes.
  private func fields(of card: VerifiedCard) -> [(name: String, range: Range<Int>)] {
    let name = card.card.name.text.utf8.count
    let icon = card.card.icon.text.utf8.count
    let sizes = [
      ("version", 1), ("suite", 1), ("signing key", 33), ("agreement key", 33), ("sequence", 8), ("issued", 6),
      ("prekey ID", 4), ("prekey", 33), ("seal until", 6), ("capabilities", 4), ("name length", 1), ("name", name),
      ("icon length", 1), ("icon", icon), ("signature", 64),
    ]
    var start = 0
    return sizes.map { name, size in
      defer { start += size }
      return (name, start..<start + size)
    }
  }

  @Test func threat04_everyFieldOfACardThatARelayRewritesIsRefused() throws {
    let store = MemoryStore()
    let (mesh, bridge) = try bridged(seed: 41, store: store)
    let (near, far) = (mesh.members[0].node.session, mesh.members[1].node.session)
    let stored = try #require(try card(of: near.ownID, at: 1, mesh))
    let relay = bridge.adversary
    let own = relay.card
    var rewritten: [(name: String, bytes: [UInt8])] = []
    for (name, range) in fields(of: stored) {
      for index in range {
        var bytes = stored.encoded
        bytes[index] ^= name.hasSuffix("key") && index == range.lowerBound ? 1 : 0x10
        rewritten.append((name, bytes))
      }
      // The relay's own field in the place of the victim's, where the two are of one size.
      guard own.encoded.count >= range.upperBound, !["name length", "name", "icon length", "icon"].contains(name) else {
        continue
      }
      let place = name == "signature" ? own.encoded.count - 64..<own.encoded.count : range
      var bytes = stored.encoded
      bytes.replaceSubrange(range, with: own.encoded[place])
      if bytes != stored.encoded { rewritten.append((name, bytes)) }
    }
    let wall = mesh.simulation.time.source.wallMilliseconds()
    let refusedBefore = far.counters[.cardsRefused]
    for (name, bytes) in rewritten {
      let packet = try PacketDraft(kind: .card, time: wall, origin: Tag(rawValue: near.ownID.tag), body: bytes)
        .unsigned()
      try bridge.links[1].send(packet: packet.encoded)
      bridge.run(for: .milliseconds(100), step: .milliseconds(100))
      #expect(try card(of: near.ownID, at: 1, mesh) == stored, "\(name)")
    }
    // The relay's own card as if it were the victim's.
    let packet = try PacketDraft(kind: .card, time: wall, origin: Tag(rawValue: near.ownID.tag), body: own.encoded)
      .unsigned()
    try bridge.links[1].send(packet: packet.encoded)
    bridge.run(for: .seconds(5))
    #expect(far.counters[.cardsRefused] - refusedBefore == UInt64(rewritten.count + 1), "all of them are refused")
    #expect(try card(of: near.ownID, at: 1, mesh) == stored)
    let onDisk = try mesh.call { try await store.cards(limit: 100).filter { $0.id == near.ownID } }
    #expect(onDisk == [stored])
    // And what is said then goes to the key it should.
    _ = try mesh.call { try await far.send("still to you", to: .peer(near.ownID)) }
    bridge.run(for: .seconds(2))
    #expect(mesh.heard[0] == ["still to you": 1])
    print("\(rewritten.count) rewritten cards refused")
    mesh.stop()
    bridge.stop()
  }

  /// Every message that a dialler sends, with a byte of each of its fields changed.
  @Test func threat04_changedHandshakeMessageEndsTheLinkAndLeavesNoCard() throws {
    let mesh = Mesh(seed: 42)
    try mesh.add("C")
    mesh.run(for: .seconds(1))
    let node = mesh.members[0].node
    let mallory = try Adversary("mallory", on: mesh)
    var attempts: UInt64 = 0
    for number in 0...1 {
      for index in [0, 1, 20, 40, 64, 70, 80, 90, 150, 200] {
        let isChanged = Tally()
        _ = try? mallory.join("C") { current, message in
          guard current == number, message.indices.contains(index) else { return }
          message[index] ^= 0x04
          isChanged.add()
        }
        // An address has ten handshakes a minute.
        mesh.run(for: .seconds(7))
        attempts += UInt64(isChanged.count)
      }
    }
    #expect(attempts >= 14)
    #expect(node.links.counters[.handshakesRefused] == attempts)
    #expect(node.links.counters[.established] == 20 - attempts, "and those that nobody has changed stand")
    #expect(try card(of: mallory.card.id, at: 0, mesh) == mallory.card)
    mesh.stop()
    mallory.stop()
  }

  private final class Tally: Sendable {
    private let number = Protected(0)
    func add() { number.withLock { $0 += 1 } }
    var count: Int { number.withLock { $0 } }
  }

  @Test func threat06_anothersNameCardOrSignatureHelpsNobody() throws {
    let (mesh, bridge) = try bridged(seed: 61)
    let (victim, target) = (mesh.members[0].node.session, mesh.members[1].node)
    let victimCard = try #require(try card(of: victim.ownID, at: 1, mesh))
    // The victim's card in a session of one's own.
    let thief = try Adversary("thief", on: mesh)
    let refused = target.links.counters[.handshakesRefused]
    _ = try? thief.join("C", card: victimCard)
    mesh.run(for: .seconds(1))
    #expect(target.links.counters[.handshakesRefused] == refused + 1)
    // One's own key under the victim's name: another peer, and no word to it goes to the victim's contact.
    let namesake = try Adversary("A", on: mesh, radioName: "namesake")
    let joined = try namesake.join("C")
    bridge.run(for: .seconds(1))
    joined.read()
    #expect(try card(of: victim.ownID, at: 1, mesh) == victimCard)
    #expect(try card(of: namesake.card.id, at: 1, mesh) == namesake.card)
    let wall = mesh.simulation.time.source.wallMilliseconds()
    let content = MessageContent(id: MessageID(high: 1, low: 2), substance: .text("I am A")).encoded
    let prekey = try mesh.call { await target.session.ownCard.card.prekey }
    for (sender, origin) in [
      (victim.ownID, victim.ownID), (victim.ownID, namesake.card.id), (namesake.card.id, victim.ownID),
    ] {
      let body = try PersonalSeal.seal(
        content, from: sender, key: namesake.keys.sharedAgreementKey(), to: target.session.ownID, prekey: prekey,
        time: wall, random: .system)
      let packet = try PacketDraft(
        kind: .personal, time: wall, origin: Tag(rawValue: origin.tag),
        destination: Tag(rawValue: target.session.ownID.tag), body: body
      ).unsigned()
      try joined.send(packet: packet.encoded)
    }
    // The victim's signature under other words, and other words under the victim's tag.
    _ = try mesh.call { try await victim.send("my own words", to: .everyone) }
    bridge.run(for: .seconds(1))
    let genuine = try #require(try bridge.packets(of: [.public]).last)
    let draft = try PacketDraft(
      kind: .public, time: genuine.header.time, origin: genuine.header.origin, body: content)
    try joined.send(packet: draft.signed { _ in Array(genuine.signature!) }.encoded)
    try joined.send(packet: draft.signed { try namesake.keys.sign(.packetSignature, $0) }.encoded)
    bridge.run(for: .seconds(5))
    #expect(mesh.heard[1] == ["my own words": 1])
    let counters = target.session.counters
    #expect(counters[.sealRefused] + counters[.sealOfAnotherKey] + counters[.sealOfAnotherOrigin] == 3)
    #expect(target.session.counters[.signatureRefused] == 2)
    mesh.stop()
    for one in [bridge.adversary, thief, namesake] { one.stop() }
  }

  @Test func threat07_publicMessageWithAnyByteChangedIsNeitherShownNorKept() throws {
    let store = MemoryStore()
    let (mesh, bridge) = try bridged(seed: 71, store: store)
    let (author, reader) = (mesh.members[0].node.session, mesh.members[1].node.session)
    _ = try mesh.call { try await author.send("signed", to: .everyone) }
    // It goes to the relay, which holds it back and tries everything else first.
    mesh.run(for: .milliseconds(100))
    bridge.links[0].read()
    let packet = try #require(try bridge.packets(of: [.public]).last)
    for index in packet.header.identifiedRange {
      var bytes = packet.encoded
      bytes[index] ^= 1
      try bridge.links[1].send(packet: bytes)
      mesh.run(for: .milliseconds(10))
    }
    mesh.run(for: .seconds(1))
    #expect(mesh.heard[1].isEmpty)
    #expect(try mesh.call { try await store.messages(limit: 10).isEmpty })
    #expect(reader.counters[.signatureRefused] > UInt64(packet.body.count + 64))
    bridge.run(for: .seconds(1))
    #expect(mesh.heard[1] == ["signed": 1], "and then the real one")
    mesh.stop()
    bridge.stop()
  }

  @Test func threat08_everythingPlayedAgainIsDeliveredOnce() throws {
    let store = MemoryStore()
    let (mesh, bridge) = try bridged(seed: 81, store: store)
    let (near, far) = (mesh.members[0].node.session, mesh.members[1].node.session.ownID)
    let oldCard = try #require(try card(of: near.ownID, at: 1, mesh))
    for number in 0..<5 {
      _ = try mesh.call { try await near.send("public \(number)", to: .everyone) }
      _ = try mesh.call { try await near.send("personal \(number)", to: .peer(far)) }
      bridge.run(for: .seconds(1))
    }
    let profile = Session.Profile(name: try PeerName("A renamed"), icon: .none, capabilities: [])
    #expect(try mesh.call { await near.setProfile(profile) })
    bridge.run(for: .seconds(2))
    let newCard = try #require(try card(of: near.ownID, at: 1, mesh))
    #expect(newCard != oldCard)
    #expect(mesh.heard[1].count == 10)
    let captured = bridge.links[0].contents
    func play(_ link: AdversaryLink) {
      for content in captured {
        link.send(content)
        mesh.run(for: .milliseconds(5))
        link.read()
      }
      mesh.run(for: .seconds(2))
      link.read()
    }
    play(bridge.links[1])
    let other = try Adversary("other", on: mesh)
    play(try other.join("C"))
    #expect(mesh.heard[1].count == 10 && mesh.heard[1].values.allSatisfy { $0 == 1 })
    let keys = mesh.storedKeys["C"]
    mesh.remove("C")
    try mesh.add("C", store: store, keys: keys, cardSequence: 10)
    mesh.run(for: .seconds(5))
    play(try other.join("C"))
    mesh.run(for: .seconds(72 * 3_600 + 60))
    play(try other.join("C"))
    #expect(mesh.heard[2].isEmpty, "nothing again after the restart, nor three days later")
    #expect(mesh.heard[1].count == 10 && mesh.heard[1].values.allSatisfy { $0 == 1 })
    #expect(try card(of: near.ownID, at: 2, mesh) == newCard, "the old card is refused")
    #expect(try mesh.call { try await store.messages(limit: 100).count } == 10)
    mesh.stop()
    bridge.stop()
    other.stop()
  }

  /// Frames as they were on the air, sealed, on a link that the same neighbour has made since.
  @Test func threat08_framesOfAnEarlierLinkAreRefusedAndEndTheLink() throws {
    let mesh = Mesh(seed: 82)
    try mesh.add("C")
    mesh.run(for: .seconds(1))
    let neighbour = try Adversary("neighbour", on: mesh)
    let first = try neighbour.join("C")
    for token in 0..<20 { first.send(LinkFrame.ping(token: UInt64(token)).encoded) }
    mesh.run(for: .seconds(1))
    first.read()
    #expect(first.contents.count >= 20, "they were good when they were new")
    first.link.close()
    mesh.run(for: .seconds(1))
    let second = try neighbour.join("C")
    let before = mesh.members[0].node.links.counters[.framesUnopened]
    for frame in first.sent.suffix(20) { _ = second.link.send(frame) }
    mesh.run(for: .seconds(1))
    #expect(mesh.members[0].node.links.counters[.framesUnopened] - before >= LinksLimits.brokenFrames)
    #expect(second.link.end != nil)
    mesh.stop()
    neighbour.stop()
  }
}
