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

@testable import NodeRuntime

/// A node may go at any moment and come back: what was accepted arrives, once, and people are told who is there.
@Suite struct RestartTests {
  @Test func messageSaidWhileTheRelayIsAwayArrivesWhenItIsBack() throws {
    let mesh = Mesh(seed: 7)
    let keys = try exportedKeys(mesh)
    let store = MemoryStore()
    try mesh.add("A")
    try mesh.add("B", store: store, keys: keys)
    try mesh.add("C")
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    try #require(mesh.isAcquainted())
    mesh.remove("B")
    mesh.run(for: .seconds(5))
    let sender = mesh.members[0].node.session
    _ = try mesh.call { try await sender.send("while you were away", to: .everyone) }
    mesh.run(for: .seconds(20))
    #expect(mesh.heard[2].isEmpty, "nobody was there to pass it on")

    try mesh.add("B", store: store, keys: keys, cardSequence: 2)
    mesh.run(for: .seconds(120)) { mesh.heard[2]["while you were away"] != nil }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[2]["while you were away"] == 1)
    #expect(mesh.heard[3]["while you were away"] == 1, "the relay itself is told too")
    mesh.stop()
  }

  @Test func ownMessageOfAnEarlierRunIsSentAgainAndShownOnce() throws {
    let mesh = Mesh(seed: 8)
    let keys = try exportedKeys(mesh)
    let store = MemoryStore()
    try mesh.add("A", store: store, keys: keys)
    try mesh.add("B")
    mesh.run(for: .seconds(2))
    let sender = mesh.members[0].node.session
    _ = try mesh.call { try await sender.send("said to nobody", to: .everyone) }
    mesh.remove("A")
    try mesh.add("A", store: store, keys: keys, cardSequence: 2)
    mesh.medium.setReach("A", "B", true)
    mesh.run(for: .seconds(30)) { mesh.heard[1]["said to nobody"] != nil }
    #expect(mesh.heard[1]["said to nobody"] == 1)
    mesh.remove("A")
    try mesh.add("A", store: store, keys: keys, cardSequence: 3)
    mesh.run(for: .seconds(30))
    #expect(mesh.heard[1]["said to nobody"] == 1, "a second restart does not show it again")
    mesh.stop()
  }

  @Test func whatWasSeenBeforeARestartIsNotTakenForNew() throws {
    for keepsHistory in [true, false] {
      let mesh = Mesh(seed: 12)
      let keys = try exportedKeys(mesh)
      let seen = MemorySeenStore()
      let (senderKeys, senderStore) = (try exportedKeys(mesh), MemoryStore())
      try mesh.add("A", store: senderStore, keys: senderKeys)
      try mesh.add("B", keys: keys, seenStore: seen)
      mesh.joinChain()
      mesh.run(for: .seconds(20))
      let sender = mesh.members[0].node.session
      _ = try mesh.call { try await sender.send("said before", to: .everyone) }
      mesh.run(for: .seconds(10))
      #expect(mesh.heard[1]["said before"] == 1)
      // A stop, not a kill: everything is kept. Its archive is taken away, so that the relay alone must know. The sender
      // starts anew too, so that it does not know who has its message and sends it again.
      mesh.remove("B")
      mesh.remove("A")
      try mesh.add("A", store: senderStore, keys: senderKeys, cardSequence: 2)
      try mesh.add("B", keys: keys, cardSequence: 2, seenStore: keepsHistory ? seen : nil)
      mesh.medium.setReach("A", "B", true)
      mesh.run(for: .seconds(60))
      let relay = mesh.members[3].node.relay
      #expect((relay.counters[.restored] > 0) == keepsHistory)
      #expect(mesh.heard[3]["said before"] == (keepsHistory ? nil : 1))
      // Whoever comes to it later and was not there gets the message all the same.
      try mesh.add("E")
      mesh.medium.setReach("B", "E", true)
      mesh.run(for: .seconds(60))
      #expect(mesh.heard[4]["said before"] == 1)
      mesh.stop()
    }
  }

  @Test func killedNodeLosesTheLastSecondsOfItAndShowsNothingTwice() throws {
    let mesh = Mesh(seed: 13)
    let keys = try exportedKeys(mesh)
    let (store, seen) = (MemoryStore(), MemorySeenStore())
    let (senderKeys, senderStore) = (try exportedKeys(mesh), MemoryStore())
    try mesh.add("A", store: senderStore, keys: senderKeys)
    try mesh.add("B", store: store, keys: keys, seenStore: seen)
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let sender = mesh.members[0].node.session
    _ = try mesh.call { try await sender.send("long before", to: .everyone) }
    mesh.run(for: .seconds(31))
    let saves = seen.saves
    _ = try mesh.call { try await sender.send("just before", to: .everyone) }
    mesh.run(for: .milliseconds(500))
    #expect(mesh.heard[1] == ["long before": 1, "just before": 1])
    seen.isFrozen = true
    mesh.remove("B")
    #expect(saves > 0 && seen.saves == saves, "the last one was never written")
    seen.isFrozen = false
    mesh.remove("A")
    try mesh.add("A", store: senderStore, keys: senderKeys, cardSequence: 2)
    try mesh.add("B", store: store, keys: keys, cardSequence: 2, seenStore: seen)
    mesh.medium.setReach("A", "B", true)
    mesh.run(for: .seconds(60))
    #expect(mesh.heard[3].isEmpty, "the relay has forgotten the last one, the archive has not")
    #expect(mesh.members[3].node.session.counters[.messagesRepeated] == 1)
    mesh.stop()
  }

  @Test func savesOfWhatWasSeenAreFarApart() throws {
    let mesh = Mesh(seed: 14)
    let seen = MemorySeenStore()
    try mesh.add("A")
    try mesh.add("B", seenStore: seen)
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let sender = mesh.members[0].node.session
    for number in 0..<100 {
      _ = try mesh.call { try await sender.send("\(number)", to: .everyone) }
      mesh.run(for: .seconds(3))
    }
    #expect(seen.saves >= 8 && seen.saves <= 11, "\(seen.saves)")
    mesh.stop()
  }

  @Test func firstSightSilenceAndReturnAreEvents() throws {
    let mesh = Mesh(seed: 9)
    for name in ["A", "B"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    #expect(mesh.peerEvents[0].map(\.kind) == [.appeared])
    #expect(mesh.peerEvents[0].first?.name == "B")
    mesh.medium.setReach("A", "B", false)
    mesh.run(for: .seconds(10))
    mesh.medium.setReach("A", "B", true)
    mesh.run(for: .seconds(20))
    #expect(mesh.peerEvents[0].map(\.kind) == [.appeared], "a short absence is no event")
    mesh.medium.setReach("A", "B", false)
    mesh.run(for: .seconds(200))
    #expect(mesh.peerEvents[0].map(\.kind) == [.appeared, .silent])
    mesh.medium.setReach("A", "B", true)
    mesh.run(for: .seconds(120))
    #expect(mesh.peerEvents[0].map(\.kind) == [.appeared, .silent, .returned])
    mesh.stop()
  }

  @Test func changedNameReachesEverybodyWithoutReconnecting() throws {
    let mesh = Mesh(seed: 10)
    for name in ["A", "B", "C", "D"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    let session = mesh.members[0].node.session
    let profile = Session.Profile(name: try PeerName("Alice"), icon: try PeerIcon("🐝"), capabilities: [])
    #expect(try mesh.call { await session.setProfile(profile) })
    mesh.run(for: .seconds(30))
    let far = mesh.members[3].node.session
    let names = try mesh.call { await far.peers().map { $0.card.card.name.text } }
    #expect(names.contains("Alice") && !names.contains("A"))
    #expect(mesh.peerEvents[3].contains { $0.kind == .renamed && $0.name == "Alice" && $0.icon == "🐝" })
    mesh.stop()
  }

  @Test func pingTellsTheWayThereAndBack() throws {
    let mesh = Mesh(seed: 11)
    mesh.medium.setConditions(MemoryConditions(delay: .milliseconds(10)))
    for name in ["A", "B", "C", "D"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    let (near, far) = (mesh.members[0].node.session, mesh.members[3].node.session.ownID)
    let answer = try mesh.call { try await near.ping(far, timeout: .seconds(10)) }
    let relays = mesh.members[1...2].map { $0.node.session.ownID.routeEntry }
    #expect(answer.hopsThere == 3 && answer.hopsBack == 3)
    #expect(answer.pathThere == relays && answer.pathBack == relays.reversed())
    #expect(answer.roundTrip >= .milliseconds(60) && answer.roundTrip < .milliseconds(200))
    #expect(throws: SessionError.unknownPeer) {
      try mesh.call { try await near.ping(PeerID(high: 1, low: 2), timeout: .seconds(1)) }
    }
    mesh.stop()
  }

  private func exportedKeys(_ mesh: Mesh) throws -> [UInt8] {
    let keys = try IdentityKeys(generatedFrom: .system, now: mesh.simulation.time.source.wallMilliseconds())
    let secret = try keys.export()
    return [UInt8](copying: secret.bytes)
  }
}
