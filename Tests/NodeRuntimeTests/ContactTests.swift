import Identities
import MemoryTransport
import Relaying
import Routing
import Sessions
import Telemetry
import TestKit
import Testing

@testable import NodeRuntime

/// A stranger with a friend's name, and a peer that is blocked, on whole nodes.
@Suite struct ContactTests {
  @Test func strangerWithAFriendsNameStopsSendingUntilSettled() throws {
    let mesh = Mesh(seed: 21)
    for name in ["alice", "bob"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let (alice, bob) = (mesh.members[0].node.session, mesh.members[1].node.session.ownID)
    _ = try mesh.call { try await alice.send("hello", to: .peer(bob)) }

    try mesh.add("mallory", profileName: "bob")
    let mallory = mesh.members[2].node.session.ownID
    mesh.medium.setReach("alice", "mallory", true)
    mesh.run(for: .seconds(20))
    #expect(mesh.contactEvents[0].map(\.rival) == [mallory])
    for peer in [bob, mallory] {
      let error = #expect(throws: SessionError.self) {
        try mesh.call { try await alice.send("secret", to: .peer(peer)) }
      }
      guard case .contactChanged(let contact)? = error else {
        Issue.record("sent although the name is contested: \(String(describing: error))")
        continue
      }
      #expect(contact.peer == bob && contact.rival == mallory)
    }
    _ = try mesh.call { try await alice.trust(bob, isVerified: true) }
    _ = try mesh.call { try await alice.send("to the friend", to: .peer(bob)) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[1] == ["hello": 1, "to the friend": 1] && mesh.heard[2].isEmpty)
    mesh.stop()
  }

  /// It has written to us, so it is a contact; a restart later it calls itself as the verified friend does.
  @Test func threat06_contactThatTakesAFriendsNameContestsItUntilSettled() throws {
    let mesh = Mesh(seed: 23)
    for name in ["qa", "friend"] { try mesh.add(name) }
    let store = MemoryStore()
    try mesh.add("harmless", store: store)
    for name in ["friend", "harmless"] { mesh.medium.setReach("qa", name, true) }
    mesh.run(for: .seconds(20))
    let (qa, friend) = (mesh.members[0].node.session, mesh.members[1].node.session.ownID)
    let harmless = mesh.members[2].node.session
    _ = try mesh.call { try await qa.trust(friend, isVerified: true) }
    let own = qa.ownID
    _ = try mesh.call { try await harmless.send("hi", to: .peer(own)) }
    mesh.run(for: .seconds(10))
    let id = harmless.ownID
    #expect(try mesh.call { await qa.contact(id)?.state } == .seen)

    mesh.remove("harmless")
    mesh.run(for: .seconds(5))
    try mesh.add(
      "harmless", profileName: "friend", store: store, keys: mesh.storedKeys["harmless"], cardSequence: 2)
    mesh.medium.setReach("qa", "harmless", true)
    mesh.run(for: .seconds(30))
    #expect(mesh.contactEvents[0].map(\.peer) == [friend] && mesh.contactEvents[0].map(\.rivals) == [[id]])
    for text in ["friend", "harmless"] {
      let resolved = try mesh.call { await qa.resolve(text) }
      guard case .contested(let contest) = resolved else {
        Issue.record("\(text) is \(resolved)")
        continue
      }
      #expect(contest.peer == friend && contest.rivals == [id] && contest.state == .verified)
    }
    #expect(throws: SessionError.self) { try mesh.call { try await qa.send("secret", to: .peer(id)) } }
    #expect(throws: SessionError.self) { try mesh.call { try await qa.ping(id, timeout: .seconds(5)) } }
    // The verified key is the friend's, whatever others call themselves.
    _ = try mesh.call { try await qa.send("by your key", to: .peer(friend)) }
    // What it writes is shown, and it is told nothing of that.
    let renamed = mesh.members[3].node.session
    let greeting = try mesh.call { try await renamed.send("it is me", to: .peer(own)) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[0]["it is me"] == 1 && qa.counters[.receiptsWithheld] > 0)
    #expect(try mesh.call { try await renamed.message(greeting.id)?.state } == .sent)

    _ = try mesh.call { try await qa.trust(friend, isVerified: false) }
    let (name, other) = (try PeerName("friend"), try PeerName("friend"))
    #expect(try mesh.call { await qa.resolve("friend") } == .peer(KnownPeer(id: friend, name: name)))
    #expect(try mesh.call { await qa.contact(id)?.name } == other)
    _ = try mesh.call { try await qa.ping(id, timeout: .seconds(5)) }
    mesh.run(for: .seconds(10))
    #expect(mesh.contactEvents[0].count == 1 && mesh.heard[1]["by your key"] == 1)
    mesh.stop()
  }

  @Test func twoSeenContactsOfOneNameAreBothRefused() throws {
    let mesh = Mesh(seed: 24)
    for name in ["alice", "bob", "mallory"] { try mesh.add(name) }
    for name in ["bob", "mallory"] { mesh.medium.setReach("alice", name, true) }
    mesh.run(for: .seconds(20))
    let alice = mesh.members[0].node.session
    let (bob, mallory) = (mesh.members[1].node.session.ownID, mesh.members[2].node.session)
    for peer in [bob, mallory.ownID] { _ = try mesh.call { try await alice.send("hello", to: .peer(peer)) } }
    let profile = Session.Profile(name: try PeerName("bob"), icon: .none, capabilities: [])
    #expect(try mesh.call { await mallory.setProfile(profile) })
    mesh.run(for: .seconds(20))
    let id = mallory.ownID
    #expect(mesh.contactEvents[0].map(\.rivals) == [[id]])
    let resolved = try mesh.call { await alice.resolve("bob") }
    guard case .contested(let contest) = resolved else {
      Issue.record("bob is \(resolved)")
      return
    }
    #expect(contest.peer == bob && contest.rivals == [id])
    for peer in [bob, id] {
      #expect(throws: SessionError.self) { try mesh.call { try await alice.send("secret", to: .peer(peer)) } }
    }
    _ = try mesh.call { try await alice.trust(id, isVerified: false) }
    #expect(try mesh.call { await alice.resolve("bob") } == .peer(KnownPeer(id: id, name: profile.name)))
    mesh.stop()
  }

  /// Two strangers of one name are here; a word of one of them makes it a contact, and no more.
  @Test func aMessageTakesNoNameFromWhoIsHere() throws {
    let mesh = Mesh(seed: 25)
    try mesh.add("alice")
    for member in ["one", "two"] {
      try mesh.add(member, profileName: "bob")
      mesh.medium.setReach("alice", member, true)
    }
    mesh.run(for: .seconds(20))
    let (alice, one, two) = (mesh.members[0].node.session, mesh.members[1].node.session, mesh.members[2].node.session)
    guard case .ambiguous(let both) = try mesh.call({ await alice.resolve("bob") }) else {
      Issue.record("the name of two strangers is somebody's")
      return
    }
    #expect(Set(both.map(\.id)) == [one.ownID, two.ownID])
    let own = alice.ownID
    _ = try mesh.call { try await one.send("hi", to: .peer(own)) }
    mesh.run(for: .seconds(10))
    let (first, second) = (one.ownID, two.ownID)
    #expect(mesh.contactEvents[0].map(\.peer) == [first] && mesh.contactEvents[0].map(\.rivals) == [[second]])
    guard case .contested = try mesh.call({ await alice.resolve("bob") }) else {
      Issue.record("a message has taken the name")
      return
    }
    mesh.stop()
  }

  @Test func blockedPeerIsNeitherShownNorPassedOn() throws {
    let mesh = Mesh(seed: 22)
    for name in ["A", "B", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    let (relay, noisy) = (mesh.members[1].node.session, mesh.members[0].node.session)
    _ = try mesh.call { try await relay.setBlocked(true, noisy.ownID) }
    _ = try mesh.call { try await noisy.send("buy this", to: .everyone) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[1].isEmpty && mesh.heard[2].isEmpty)
    #expect(mesh.members[1].node.relay.counters[.blocked] > 0)
    _ = try mesh.call { try await relay.setBlocked(false, noisy.ownID) }
    _ = try mesh.call { try await noisy.send("sorry", to: .everyone) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[1] == ["sorry": 1] && mesh.heard[2] == ["sorry": 1])
    mesh.stop()
  }
}
