import Identities
import MemoryTransport
import Primitives
import Relaying
import Routing
import Sessions
import Streams
import Telemetry
import TestKit
import Testing
import WireFormat

@testable import Links
@testable import NodeRuntime

/// Who is meant by a text: whatever others call themselves, on whole nodes.
@Suite struct NameTests {
  /// A and as many others as there are names, all in reach of A.
  private func star(_ names: [String], seed: UInt64, store: MemoryStore = MemoryStore()) throws -> Mesh {
    let mesh = Mesh(seed: seed)
    try mesh.add("A", store: store)
    for (index, name) in names.enumerated() {
      try mesh.add("n\(index)", profileName: name)
      mesh.medium.setReach("A", "n\(index)", true)
    }
    mesh.run(for: .seconds(20))
    return mesh
  }

  private func resolve(_ text: String, _ mesh: Mesh) throws -> PeerResolution {
    let session = mesh.members[0].node.session
    return try mesh.call { await session.resolve(text) }
  }

  private func id(_ member: Int, _ mesh: Mesh) -> PeerID { mesh.members[member].node.session.ownID }

  @Test func threat06_nobodyBearsAnothersIDAsItsName() throws {
    let mesh = try star(["bob"], seed: 61)
    let bob = id(1, mesh)
    // All of the ID, what is printed of it, in capitals, and that of somebody who is not here.
    let absent = "00112233445566778899aabbccddeeff"
    let taken = [bob.description, bob.shortHex, bob.shortHex.uppercased(), absent]
    for (index, name) in taken.enumerated() {
      try mesh.add("m\(index)", profileName: name)
      mesh.medium.setReach("A", "m\(index)", true)
    }
    mesh.run(for: .seconds(30))
    let session = mesh.members[0].node.session
    #expect(try mesh.call { await session.peers().count } == 5)
    let name = try PeerName("bob")
    for text in taken.dropLast() + [bob.description.uppercased()] {
      #expect(try resolve(text, mesh) == .peer(KnownPeer(id: bob, name: name)), "\(text)")
    }
    #expect(try resolve(absent, mesh) == .unknown)
    #expect(try resolve(String(bob.description.prefix(7)), mesh) == .unknown, "fewer digits are anybody's")
    #expect(try resolve("bob", mesh) == .peer(KnownPeer(id: bob, name: name)))
    mesh.stop()
  }

  @Test func aContactWithoutItsCardKeepsItsNameAndCanBeSettled() throws {
    let store = MemoryStore()
    let friend = PeerID(high: 0x1234_5678_9ABC_DEF0, low: 7)
    let name = try PeerName("bob")
    let mesh = try star([], seed: 62, store: store)
    mesh.remove("A")
    let saved = Contact(peer: friend, name: name, state: .verified, isMeant: true, isAddressed: true)
    _ = try mesh.call { try await store.save(saved) }
    try mesh.add("A", store: store)
    try mesh.add("other", profileName: "bob")
    mesh.medium.setReach("A", "other", true)
    mesh.run(for: .seconds(20))
    let session = mesh.members[1].node.session
    let resolved = try mesh.call { await session.resolve("bob") }
    guard case .contested(let contest) = resolved else {
      Issue.record("two bear the name: \(resolved)")
      return
    }
    #expect(contest.peer == friend && contest.rivals == [id(2, mesh)], "although one of them is not here")
    let byID = try mesh.call { await session.resolve("12345678") }
    #expect(byID == .peer(KnownPeer(id: friend, name: name)))
    let blocked = try mesh.call { try await session.setBlocked(true, friend) }
    let freed = try mesh.call { try await session.setBlocked(false, friend) }
    let trusted = try mesh.call { try await session.trust(friend, isVerified: true) }
    #expect(blocked.isBlocked && !freed.isBlocked && trusted.state == .verified)
    let sent = try mesh.call { try await session.send("when you are back", to: .peer(friend)) }
    #expect(sent.state == .waiting)
    #expect(try mesh.call { await session.resolve("bob") } == byID, "it is settled, and not the stranger who is here")
    mesh.stop()
  }

  @Test func cardsOfContactsStayWhateverStrangersCome() throws {
    let store = MemoryStore()
    let mesh = Mesh(seed: 63)
    let wall = mesh.simulation.time.source.wallMilliseconds()
    // Nobody was heard since the start, and then the lowest ID goes first: that is the friend's.
    let friend = try mesh.call {
      func card(_ name: String, while isUnfit: (PeerID) -> Bool) throws -> VerifiedCard {
        while true {
          let keys = try IdentityKeys(generatedFrom: .system, now: wall)
          guard !isUnfit(keys.id) else { continue }
          return try keys.makeCard(
            name: try PeerName(name), icon: .none, capabilities: [], sequence: 1, now: wall)
        }
      }
      let friend = try card("bob") { $0.high >= 1 << 60 }
      try await store.save(friend)
      try await store.save(Contact(peer: friend.id, name: friend.card.name, isAddressed: true))
      for number in 0..<IdentitiesLimits.cardCount + 20 {
        try await store.save(try card("s\(number)") { $0 < friend.id })
      }
      return friend.id
    }
    try mesh.add("A", store: store)
    mesh.run(for: .seconds(5))
    let session = mesh.members[0].node.session
    #expect(try mesh.call { await session.peers().count } == IdentitiesLimits.cardCount)
    for number in 0..<3 {
      try mesh.add("newcomer\(number)")
      mesh.medium.setReach("A", "newcomer\(number)", true)
    }
    mesh.run(for: .seconds(20))
    #expect(try mesh.call { await session.peers().count } == IdentitiesLimits.cardCount)
    #expect(try mesh.call { await session.peer(friend) != nil })
    mesh.stop()
  }

  @Test func whatWaitsForABlockedOrChangedPeerGoesOutWhenItIsSettled() throws {
    let mesh = try star(["bob"], seed: 64)
    let (session, bob) = (mesh.members[0].node.session, id(1, mesh))
    _ = try mesh.call { try await session.send("hello", to: .peer(bob)) }
    mesh.medium.setReach("A", "n0", false)
    mesh.run(for: .seconds(49 * 3_600))
    let sent = try mesh.call { try await session.send("patience", to: .peer(bob)) }
    #expect(sent.state == .waiting)
    try mesh.add("mallory", profileName: "Bob")
    mesh.medium.setReach("A", "mallory", true)
    mesh.run(for: .seconds(20))
    #expect(try mesh.call { await session.contact(bob)?.state } == .changed)
    mesh.medium.setReach("A", "n0", true)
    mesh.run(for: .seconds(60))
    #expect(mesh.heard[1]["patience"] == nil && session.counters[.waitingWithheld] > 0, "the name is contested")
    _ = try mesh.call { try await session.setBlocked(true, bob) }
    _ = try mesh.call { try await session.trust(bob, isVerified: false) }
    mesh.run(for: .seconds(60))
    #expect(mesh.heard[1]["patience"] == nil, "it is blocked")
    _ = try mesh.call { try await session.setBlocked(false, bob) }
    mesh.run(for: .seconds(60))
    #expect(mesh.heard[1]["patience"] == 1 && mesh.heard[2]["patience"] == nil)
    mesh.stop()
  }

  @Test func aContactIsFollowedToItsNewName() throws {
    let mesh = try star(["bob"], seed: 65)
    let (session, other) = (mesh.members[0].node.session, mesh.members[1].node.session)
    _ = try mesh.call { try await session.send("hello", to: .peer(other.ownID)) }
    let profile = Session.Profile(name: try PeerName("robert"), icon: .none, capabilities: [])
    #expect(try mesh.call { await other.setProfile(profile) })
    mesh.run(for: .seconds(20))
    let bob = other.ownID
    #expect(try mesh.call { await session.contact(bob)?.name.text } == "robert")
    #expect(try resolve("robert", mesh) == .peer(KnownPeer(id: bob, name: profile.name)))
    #expect(try resolve("bob", mesh) == .unknown)
    mesh.stop()
  }

  @Test func whatABlockedPeerHasSaidGoesToNoNewcomerAndIsNotListed() throws {
    let mesh = try star(["noisy"], seed: 66)
    let (session, noisy) = (mesh.members[0].node.session, mesh.members[1].node.session)
    _ = try mesh.call { try await noisy.send("buy this", to: .everyone) }
    _ = try mesh.call { try await session.send("mine", to: .everyone) }
    mesh.run(for: .seconds(10))
    #expect(try mesh.call { try await session.messages(limit: 10).map(\.text) } == ["buy this", "mine"])
    let id = noisy.ownID
    _ = try mesh.call { try await session.setBlocked(true, id) }
    #expect(mesh.members[0].node.relay.counters[.carriedBlocked] > 0)
    #expect(try mesh.call { try await session.messages(limit: 10).map(\.text) } == ["mine"])
    try mesh.add("newcomer")
    mesh.medium.setReach("A", "newcomer", true)
    mesh.run(for: .seconds(30))
    #expect(mesh.heard[2] == ["mine": 1])
    _ = try mesh.call { try await session.setBlocked(false, id) }
    #expect(try mesh.call { try await session.messages(limit: 10).count } == 2)
    mesh.stop()
  }

  /// What an author has said before it was blocked, and the node that has blocked it since.
  private func saidBeforeBlocking() throws -> (mesh: Mesh, packet: Packet) {
    let mesh = try star(["noisy", "other"], seed: 68)
    let (session, noisy) = (mesh.members[0].node.session, mesh.members[1].node.session)
    mesh.medium.setReach("A", "n0", false)
    mesh.run(for: .seconds(20))
    let sent = try mesh.call { try await noisy.send("buy this", to: .everyone) }
    let id = noisy.ownID
    _ = try mesh.call { try await session.setBlocked(true, id) }
    mesh.run(for: .seconds(1))
    return (mesh, try Packet(decoding: try #require(sent.packet)))
  }

  @Test func whatTheRelayLetInOfAnAuthorBlockedSinceIsNotShown() throws {
    let (mesh, packet) = try saidBeforeBlocking()
    let node = mesh.members[0].node
    var identifier = try PacketIdentifier()
    let id = try identifier.id(of: packet)
    node.relay.deliveries.offer(.packet(packet, id: id, receivedAt: mesh.simulation.time.now))
    mesh.run(for: .seconds(2))
    #expect(mesh.heard[0].isEmpty && node.session.counters[.blockedRefused] == 1)
    mesh.stop()
  }

  @Test func whatWasHandedOverBeforeItsAuthorWasBlockedDoesNotLeave() throws {
    let (mesh, packet) = try saidBeforeBlocking()
    let node = mesh.members[0].node
    let now = mesh.simulation.time.now
    let before = node.links.counters[.originBlocked]
    node.links.outbound.offer(
      OutboundPacket(
        key: 77, kind: .public, bytes: packet.encoded, links: LinkSet(bits: 0b11), since: now,
        expiry: now.advanced(by: .seconds(60))))
    mesh.run(for: .seconds(5))
    #expect(mesh.heard[2].isEmpty && node.links.counters[.originBlocked] == before + 1)
    mesh.stop()
  }

  @Test func threat13_newcomersGetInWhileSilentStrangersKeepDialling() throws {
    let mesh = Mesh(seed: 67)
    try mesh.add("A")
    mesh.run(for: .seconds(1))
    let links = mesh.members[0].node.links
    let strangers = try (0..<9).map { try Adversary("s\($0)", on: mesh) }
    var most = 0
    var turn = 0
    // As often as each address may, and in turn, so that the places are never free by themselves.
    func press() throws {
      _ = try? strangers[turn % strangers.count].open("A")
      turn += 1
      most = max(most, try mesh.call { await links.table.halfOpenCount })
      mesh.run(for: .milliseconds(670))
    }
    for _ in 0..<40 { try press() }
    try mesh.add("guest")
    mesh.medium.setReach("A", "guest", true)
    for _ in 0..<6 { try press() }
    let guest = id(1, mesh)
    let session = mesh.members[0].node.session
    #expect(try mesh.call { await session.peer(guest) != nil })
    #expect(most == LinksLimits.halfOpen && links.counters[.halfOpenEvicted] > 0)
    mesh.stop()
    for stranger in strangers { stranger.stop() }
  }

  @Test func aCopyOfOurKeysOnALinkIsCountedAndSaid() throws {
    let sink = MemoryLogSink()
    let mesh = Mesh(seed: 68, log: Log(label: "node", threshold: .warning, sink: sink))
    try mesh.add("A")
    try mesh.add("copy", keys: mesh.storedKeys["A"])
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    #expect(mesh.members.contains { $0.node.links.counters[.ownIdentityMet] > 0 })
    #expect(sink.records.contains { $0.message.description.contains("another node runs with the same keys") })
    mesh.stop()
  }

  @Test func aDialBetweenCommunitiesSaysThatTheKeysMayDiffer() throws {
    let mesh = Mesh(seed: 69)
    try mesh.add("A", communityKey: [UInt8](repeating: 1, count: 32))
    try mesh.add("B", communityKey: [UInt8](repeating: 2, count: 32))
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let reasons = try mesh.members.flatMap { member in
      try mesh.call { await member.node.links.records().compactMap { $0.lastFailure?.reason } }
    }
    #expect(reasons.count > 0 && reasons.allSatisfy { $0.contains("community keys may differ") }, "\(reasons)")
    mesh.stop()
  }
}
