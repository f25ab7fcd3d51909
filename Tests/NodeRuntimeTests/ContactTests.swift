import Identities
import MemoryTransport
import Relaying
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
