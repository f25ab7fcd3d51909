import Identities
import Primitives
import Routing
import Streams
import Telemetry
import TestKit
import Testing
import WireFormat

@testable import Relaying

/// One relay whose links and session are the test.
@Suite struct RelayTests {
  let simulation = Simulation()
  let inbound = Channel<NeighbourEvent>(capacity: 1_000)
  let outbound = Channel<OutboundPacket>(capacity: 1_000)
  let control = Channel<OutboundControl>(capacity: 1_000)
  let relay: Relay
  let task: Task<Void, any Error>
  let ownID = PeerID(high: 0xAAAA_BBBB_CCCC_DDDD, low: 1)
  let cards: [VerifiedCard]

  init() throws {
    cards = try (1...3).map { number in
      let keys = try IdentityKeys(generatedFrom: .system, now: 1_767_225_600_000)
      return try keys.makeCard(
        name: PeerName("n\(number)"), icon: .none, capabilities: [], sequence: 1, now: 1_767_225_600_000)
    }
    let relay = Relay(
      configuration: Relay.Configuration(
        ownID: ownID, key: (1, 2), time: simulation.time.source, isClockSynchronised: { true },
        log: Log(label: "relay", threshold: .error, sink: MemoryLogSink())),
      inbound: inbound, outbound: outbound, control: control)
    self.relay = relay
    task = simulation.start { await relay.run() }
  }

  func packet(
    _ number: UInt8, to destination: WireFormat.Tag = .everyone, kind: PacketKind = .personal, hops: UInt8 = 0
  ) throws -> (packet: Packet, id: PacketID) {
    let time = simulation.time.source.wallMilliseconds()
    let draft = try PacketDraft(
      kind: kind, time: time, origin: WireFormat.Tag(rawValue: 99), destination: destination, body: [number])
    var bytes = try draft.unsigned().encoded
    bytes[1] = hops
    return (try Packet(decoding: bytes), PacketID(high: UInt64(number), low: 5))
  }

  func run() { _ = simulation.run(for: .milliseconds(1)) }

  /// A neighbour that says nothing of trees in this time is given what it misses whole.
  func waitForAcquaintance() { _ = simulation.run(for: .milliseconds(1_001)) }

  func controls() -> [(slot: Int, frame: LinkFrame)] {
    var frames: [(slot: Int, frame: LinkFrame)] = []
    while let next = control.poll() { frames.append((next.slot, next.frame)) }
    return frames
  }

  func up(_ slots: Int...) {
    for slot in slots { inbound.offer(.up(slot: slot, card: cards[slot - 1])) }
    run()
    while relay.deliveries.poll() != nil {}
  }

  func receive(_ packet: (packet: Packet, id: PacketID), from slot: Int) {
    inbound.offer(
      .packet(
        ReceivedPacket(packet: packet.packet, id: packet.id, slot: slot, link: 7, receivedAt: simulation.time.now)))
    run()
  }

  func sent() -> [OutboundPacket] {
    var packets: [OutboundPacket] = []
    while let packet = outbound.poll() { packets.append(packet) }
    return packets
  }

  func delivered() -> [UInt64] {
    var keys: [UInt64] = []
    while let delivery = relay.deliveries.poll() {
      if case .packet(_, let id, _) = delivery { keys.append(id.key) }
    }
    return keys
  }

  @Test func aPacketIsPassedOnWithOneMoreHopAndOurNameInItsRoute() throws {
    up(1, 2, 3)
    receive(try packet(1, hops: 4), from: 2)
    let packets = sent()
    #expect(packets.count == 1 && packets[0].links.bits == 0b1010 && !packets[0].isBacklog)
    let relayed = try Packet(decoding: packets[0].bytes)
    #expect(relayed.header.hops == 5 && relayed.route == [ownID.routeEntry])
    #expect(delivered() == [1])
  }

  @Test func whatIsForAnotherIsPassedOnAndNotDelivered() throws {
    up(1, 2)
    receive(try packet(1, to: WireFormat.Tag(rawValue: 5)), from: 1)
    receive(try packet(2, to: WireFormat.Tag(rawValue: ownID.tag)), from: 1)
    receive(try packet(3, kind: PacketKind(rawValue: 200)), from: 1)
    #expect(sent().map(\.key) == [1, 2, 3])
    #expect(delivered() == [2])
  }

  @Test func aDuplicateGoesNowhere() throws {
    up(1, 2)
    let packet = try packet(1)
    for slot in [1, 2, 1, 2] { receive(packet, from: slot) }
    #expect(sent().count == 1 && delivered() == [1])
  }

  @Test func whoComesLaterGetsWhatItMissesOldestFirst() throws {
    up(1)
    for number: UInt8 in 1...100 { receive(try packet(number), from: 1) }
    #expect(sent().isEmpty)
    inbound.offer(.up(slot: 2, card: cards[1]))
    run()
    #expect(sent().isEmpty)
    waitForAcquaintance()
    let first = sent()
    #expect(
      first.map(\.key) == (1...UInt64(Backlog.ahead)).map { $0 }
        && first.allSatisfy { $0.isBacklog && $0.links.bits == 0b100 })
    inbound.offer(.acknowledged(slot: 2, keys: [1, 2]))
    run()
    #expect(sent().map(\.key) == [UInt64(Backlog.ahead) + 1, UInt64(Backlog.ahead) + 2])
    // It goes and comes back: what it has is not sent again.
    inbound.offer(.down(slot: 2, peer: cards[1].id))
    inbound.offer(.up(slot: 2, card: cards[1]))
    waitForAcquaintance()
    #expect(sent().map(\.key).first == 3)
  }

  @Test func whoKnowsTreesIsComparedWithAndGetsWhatItAsksFor() throws {
    up(1)
    #expect(controls().map(\.frame) == [.reopen([])])
    for number: UInt8 in 1...3 { receive(try packet(number), from: 1) }
    inbound.offer(.up(slot: 2, card: cards[1]))
    inbound.offer(.control(slot: 2, .reopen([])))
    waitForAcquaintance()
    #expect(sent().isEmpty)
    _ = controls()
    let nothing = ReconciliationFrame.Window(start: 0, count: 0, sum: 0)
    inbound.offer(.control(slot: 2, .reconciliation(.comparison([nothing]))))
    inbound.offer(.control(slot: 2, .reconciliation(.wanted([3, 88]))))
    inbound.offer(.control(slot: 2, .graft([2, 77])))
    run()
    let told = controls()
    #expect(told.contains { $0.slot == 2 && $0.frame == .reconciliation(.difference(1)) })
    #expect(sent().map(\.key) == [3, 2])
    #expect(relay.counters[.graftsAnswered] == 1 && relay.counters[.graftsUnknown] == 1)
  }

  @Test func aSecondCopyIsPrunedWithinItsDelay() throws {
    up(1, 2, 3)
    inbound.offer(.control(slot: 2, .reopen([])))
    run()
    _ = controls()
    for slot in [1, 2, 3] { receive(try packet(1), from: slot) }
    _ = simulation.run(for: RoutingLimits.pruneDelay)
    let frames = controls()
    #expect(frames.count == 1 && frames.first?.slot == 2)
    #expect(frames.first?.frame == .prune([WireFormat.Tag(rawValue: 99)]))
    inbound.offer(.control(slot: 2, .prune([WireFormat.Tag(rawValue: 99)])))
    receive(try packet(2), from: 1)
    #expect(sent().last?.links.bits == 0b1000)
  }

  @Test func whatIsKeptOfABlockedOriginReachesNoNewcomer() throws {
    up(1)
    for number: UInt8 in 1...3 { receive(try packet(number), from: 1) }
    let call = simulation.start { [relay] in await relay.block([WireFormat.Tag(rawValue: 99)]) }
    run()
    up(2)
    #expect(sent().isEmpty && relay.counters[.carriedBlocked] == 3)
    call.cancel()
  }

  @Test func anOwnPacketIsSaidToBeHandedOverOnce() async throws {
    up(1, 2)
    let (packet, id) = try packet(9)
    let count = Protected(0)
    let call = simulation.start { [relay] in
      let links = await relay.originate(packet, id: id)
      count.withLock { $0 = links }
    }
    run()
    try await call.value
    #expect(count.withLock { $0 } == 2 && sent().map(\.links.bits) == [0b110])
    for slot in [2, 1] { inbound.offer(.acknowledged(slot: slot, keys: [9])) }
    run()
    var handedOver: [PeerID] = []
    while let delivery = relay.deliveries.poll() {
      if case .handedOver(9, let peer) = delivery { handedOver.append(peer) }
    }
    #expect(handedOver == [cards[1].id])
  }

  @Test func aSlotOfAnotherPeerStartsAnew() throws {
    up(1, 2)
    receive(try packet(1), from: 1)
    inbound.offer(.acknowledged(slot: 2, keys: [1]))
    inbound.offer(.down(slot: 2, peer: cards[1].id))
    inbound.offer(.reassigned(slot: 2))
    inbound.offer(.up(slot: 2, card: cards[2]))
    waitForAcquaintance()
    #expect(sent().map(\.isBacklog) == [false, true])
  }

  @Test func theEndOfTheLinksIsTheEndOfTheDeliveries() {
    inbound.finish()
    run()
    #expect(relay.deliveries.isFinished)
  }
}
