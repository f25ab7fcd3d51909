import Bytes
import Identities
import Links
import MemoryTransport
import Primitives
import Relaying
import Routing
import Sessions
import Streams
import Telemetry
import TestKit
import Testing
import Transports

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

  /// Notes whom A dials, and holds the dials of the others to it.
  private final class DialWatch: Sendable {
    let dialled = Protected<[(name: String, at: MonotonicTime)]>([])
    let isHolding = Protected(false)
    private let held = Protected<[Channel<Void>]>([])
    private let time = Latest<TimeSource?>(nil)

    func start(_ source: TimeSource) { time.set(source) }

    func release() {
      isHolding.withLock { $0 = false }
      for channel in held.withLock({ $0 }) { channel.finish() }
    }

    func dial(from: String, to: String) async {
      guard isHolding.withLock({ $0 }), let now = time.value?.now() else { return }
      guard from != "A" else {
        dialled.withLock { $0.append((to, now)) }
        return
      }
      let gate = Channel<Void>(capacity: 1)
      held.withLock { $0.append(gate) }
      _ = await gate.next()
    }
  }

  @Test(arguments: 15...17 as ClosedRange<UInt64>, [true, false])
  func afterARestartNothingIsDoneBeforeThePowerAndKnownPeersAreDialledFirst(_ seed: UInt64, _ isKept: Bool) throws {
    let watch = DialWatch()
    let mesh = Mesh(seed: seed, dialGate: { from, to in await watch.dial(from: from, to: to) })
    watch.start(mesh.simulation.time.source)
    let keys = try exportedKeys(mesh)
    let kept = Protected<[String: [UInt8]]>([:])
    let memory = TransportMemory(
      recall: { key in kept.withLock { $0[key] } }, keep: { key, value in kept.withLock { $0[key] = value } })
    try mesh.add("A", keys: keys, addresses: isKept ? memory : nil)
    try mesh.add("the friend")
    mesh.joinChain()
    mesh.run(for: .seconds(90))
    #expect(
      kept.withLock { $0.values.map { AddressKeeper.decode($0).map(\.description) } }
        == (isKept ? [["the friend"]] : []))

    mesh.remove("A")
    let strangers = ["a stranger", "another", "others"]
    for name in strangers { try mesh.add(name) }
    try mesh.add("A", keys: keys, cardSequence: 2, addresses: isKept ? memory : nil)
    watch.isHolding.withLock { $0 = true }
    let (node, radio) = (mesh.members[5].node, mesh.members[5].transport)
    radio.setPower(false)
    mesh.run(for: .milliseconds(1))
    for name in strangers + ["the friend"] { mesh.medium.setReach("A", name, true) }
    mesh.run(for: .seconds(30))
    #expect(watch.dialled.withLock { $0.isEmpty } && node.links.counters[.dialsStarted] == 0)
    #expect(node.links.counters[.opened] == 0)
    radio.setPower(true)
    let poweredAt = mesh.simulation.time.now
    mesh.run(for: .seconds(30))
    let dialled = watch.dialled.withLock { $0 }
    #expect(Set(dialled.map(\.name)) == Set(strangers + ["the friend"]))
    // Without a memory the names decide, all being equally near.
    let first = dialled.first
    #expect(first?.name == (isKept ? "the friend" : "a stranger"), "seed \(seed)")
    let waits = dialled.map { $0.at.since(poweredAt) }
    if isKept {
      #expect(waits[0] <= LinksLimits.reconnectSpread)
      #expect(waits.dropFirst().allSatisfy { $0 >= LinksLimits.headStart })
      print("seed \(seed): dialled after \(waits)")
    }
    let records = try mesh.call { await node.links.records().filter(\.isActive) }
    #expect(records.count == 4, "seed \(seed)")
    watch.release()
    mesh.stop()
  }

  @Test func anyBytesAreAddressesOrNone() {
    let addresses = ["AA:BB:CC:DD:EE:FF", "x"].map { TransportAddress($0) }
    #expect(AddressKeeper.decode(AddressKeeper.encode(addresses)) == addresses)
    let many = (0..<100).map { TransportAddress("AA:BB:CC:DD:EE:\($0)") }
    let bytes = AddressKeeper.encode(many)
    #expect(bytes.count <= TransportsLimits.bytesOfMemory && AddressKeeper.decode(bytes).count >= 12)
    var random = SeededGenerator(seed: 5)
    for _ in 0..<5_000 {
      let noise = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...60, using: &random) }
      let found = AddressKeeper.decode(noise)
      #expect(AddressKeeper.decode(AddressKeeper.encode(found)) == found)
    }
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
