package import Identities
package import Routing
package import Streams
package import Telemetry
package import WireFormat

/// Passes packets on: asks `RelayState` about each, hands what is to go out to the links and what is for us to the
/// session, and keeps the late ones for neighbours still to come.
///
/// Contract: `run` returns when its task is cancelled or `inbound` ends, and finishes `deliveries`. Towards the links
/// it only offers, so that the circle of links and relay has one edge that never waits; towards the session it waits,
/// because a delivery is promised.
package actor Relay {
  package struct Configuration: Sendable {
    package var ownID: PeerID
    /// 128 random bits of this process.
    package var key: (UInt64, UInt64)
    /// Whether this node writes itself into the route of what it forwards.
    package var isNamedInRoutes: Bool
    /// False only to show what happens without the table of seen packets.
    package var isDeduplicating: Bool
    package var time: TimeSource
    /// Whether the time of day is known to be synchronised.
    package var isClockSynchronised: @Sendable () -> Bool
    package var log: Log
    /// A random number of this run.
    package var run: UInt64
    /// Where what was seen is kept for the next run; nil in a node that keeps nothing.
    package var seenStore: (any SeenStore)?

    package init(
      ownID: PeerID, key: (UInt64, UInt64), isNamedInRoutes: Bool = true, isDeduplicating: Bool = true,
      time: TimeSource, isClockSynchronised: @escaping @Sendable () -> Bool, log: Log, run: UInt64 = 0,
      seenStore: (any SeenStore)? = nil
    ) {
      self.ownID = ownID
      self.key = key
      self.isNamedInRoutes = isNamedInRoutes
      self.isDeduplicating = isDeduplicating
      self.time = time
      self.isClockSynchronised = isClockSynchronised
      self.log = log
      self.run = run
      self.seenStore = seenStore
    }
  }

  let configuration: Configuration
  private let inbound: Channel<NeighbourEvent>
  private let outbound: Channel<OutboundPacket>
  var state: RelayState
  /// The last save failed.
  var isHistoryFailing = false
  private var carry = CarryStore()
  private var backlog = Backlog()
  private var peers: [Int: PeerID] = [:]
  /// Own packets that no neighbour has yet.
  private var own: Set<UInt64> = []

  /// What is for this node, in the order it came. One consumer: the session.
  package nonisolated let deliveries = Channel<Delivery>(capacity: RelayingLimits.waitingDeliveries)
  /// Every reception and its verdict.
  package nonisolated let receptions = Broadcast<Reception>(
    ringCapacity: RelayingLimits.receptionRing, subscriberLimit: RelayingLimits.receptionReaders)
  package nonisolated let counters = CounterSet<RelayCount>("relay")

  package init(
    configuration: Configuration, inbound: Channel<NeighbourEvent>, outbound: Channel<OutboundPacket>
  ) {
    self.configuration = configuration
    self.inbound = inbound
    self.outbound = outbound
    state = RelayState(
      key: configuration.key, ownEntry: configuration.ownID.routeEntry,
      isDeduplicating: configuration.isDeduplicating)
  }

  package func run() async {
    for await event in inbound {
      switch event {
      case .packet(let received): await receive(received)
      case .acknowledged(let slot, let keys): await acknowledged(slot, keys)
      case .up(let slot, let card): await neighbourUp(slot, card)
      case .down(let slot, let peer): await neighbourDown(slot, peer)
      case .reassigned(let slot): carry.forgetHolder(slot)
      }
    }
    deliveries.finish()
    receptions.finish()
  }

  /// Sends a packet of our own on its way. Who calls: the session, also for one that was sent before a restart.
  ///
  /// - Returns: how many neighbours it goes to now; it is kept for those still to come.
  package func originate(_ packet: Packet, id: PacketID) -> Int {
    let now = configuration.time.now()
    let decision = state.receive(packet, id: id, from: Int(SeenTable.ownSlot), now: now, wallMilliseconds: nil)
    guard decision.verdict == .accepted else { return 0 }
    counters.count(.originated)
    if own.count >= RelayingLimits.ownPackets { own.removeAll(keepingCapacity: true) }
    own.insert(id.key)
    keep(packet, id: id, bytes: packet.encoded, since: now, holders: .none)
    offer(id.key, packet.header.kind, packet.encoded, to: decision.forward, since: now, expiry: expiry(packet, at: now))
    return decision.forward.count
  }

  /// Nothing of these origins is delivered or passed on any more, nor what is kept of them for neighbours still to come.
  /// Who calls: the session.
  package func block(_ origins: Set<Tag>) {
    state.block(origins)
    let gone = carry.remove(of: origins)
    counters.count(.carriedBlocked, by: UInt64(gone.count))
  }

  /// Numbers for people: packets remembered, packets kept, bytes kept.
  package var tables: (remembered: Int, carried: Int, carriedBytes: Int) {
    (state.seen.count, carry.packetCount, carry.byteCount)
  }

  private func receive(_ received: ReceivedPacket) async {
    let header = received.packet.header
    let wall = configuration.isClockSynchronised() ? configuration.time.wallMilliseconds() : nil
    let decision = state.receive(
      received.packet, id: received.id, from: received.slot, now: received.receivedAt, wallMilliseconds: wall)
    record(received, verdict: decision.verdict)
    if decision.isOutOfHops { counters.count(.outOfHops) }
    if decision.isOwnRouteForged { counters.count(.ownRouteForged) }
    switch decision.verdict {
    case .duplicate:
      if decision.isOfEarlierRun, received.packet.header.forwardsLeft > 0 {
        // It is not passed on at once again; but who comes later and misses it shall have it, as without the restart.
        let bytes = forwarded(received.packet)
        var holders = LinkSet.none
        holders.insert(received.slot)
        keep(received.packet, id: received.id, bytes: bytes, since: received.receivedAt, holders: holders)
      }
      carry.mark(received.id.key, heldBy: received.slot)
    case .expired, .tooOld, .wrongTime, .blocked: break
    case .accepted, .upgraded:
      forward(received, to: decision.forward)
      if decision.verdict == .accepted, isForUs(header.destination, header.kind) {
        _ = await deliveries.send(.packet(received.packet, id: received.id, receivedAt: received.receivedAt))
      }
    }
  }

  private func forward(_ received: ReceivedPacket, to links: LinkSet) {
    guard received.packet.header.forwardsLeft > 0 else { return }
    let bytes = forwarded(received.packet)
    var holders = LinkSet.none
    holders.insert(received.slot)
    keep(received.packet, id: received.id, bytes: bytes, since: received.receivedAt, holders: holders)
    let expiry = expiry(received.packet, at: received.receivedAt)
    offer(
      received.id.key, received.packet.header.kind, bytes, to: links, source: UInt8(truncatingIfNeeded: received.slot),
      since: received.receivedAt, expiry: expiry)
  }

  /// As it goes out from here.
  private func forwarded(_ packet: Packet) -> [UInt8] {
    let isNamed = configuration.isNamedInRoutes && packet.header.kind.carriesRoute
    return packet.relayed(addingAge: 0, appending: isNamed ? configuration.ownID.routeEntry : nil)
  }

  private func offer(
    _ key: UInt64, _ kind: PacketKind, _ bytes: [UInt8], to links: LinkSet,
    source: UInt8 = SeenTable.ownSlot, since: MonotonicTime, expiry: MonotonicTime, isBacklog: Bool = false
  ) {
    guard !links.isEmpty else { return }
    let packet = OutboundPacket(
      key: key, kind: kind, bytes: bytes, links: links, source: source, since: since, expiry: expiry,
      isBacklog: isBacklog)
    counters.count(outbound.offer(packet) == .accepted ? (isBacklog ? .backlog : .forwarded) : .outboundFull)
  }

  private func keep(_ packet: Packet, id: PacketID, bytes: [UInt8], since: MonotonicTime, holders: LinkSet) {
    carry.insert(
      CarriedPacket(
        id: id, kind: packet.header.kind, origin: packet.header.origin, bytes: bytes, since: since,
        expiry: expiry(packet, at: since), holders: holders))
  }

  private func expiry(_ packet: Packet, at time: MonotonicTime) -> MonotonicTime {
    let left = packet.header.kind.lifetime.subtractingReportingOverflow(UInt64(packet.header.age))
    return left.overflow ? time : time.advanced(by: .milliseconds(Int64(clamping: left.partialValue)))
  }

  private func isForUs(_ destination: Tag, _ kind: PacketKind) -> Bool {
    (destination == .everyone || destination == Tag(rawValue: configuration.ownID.tag)) && kind.isForSessions
  }

  private func record(_ received: ReceivedPacket, verdict: RelayState.Verdict) {
    counters.count(RelayCount(verdict))
    guard receptions.hasSubscribers else { return }
    receptions.send(
      Reception(
        wallMilliseconds: configuration.time.wallMilliseconds(), link: received.link, neighbour: peers[received.slot],
        kind: received.packet.header.kind, id: received.id, hops: received.packet.header.hops &+ 1,
        byteCount: received.packet.encoded.count, verdict: verdict))
  }

  // MARK: Neighbours

  private func neighbourUp(_ slot: Int, _ card: VerifiedCard) async {
    peers[slot] = card.id
    state.linkUp(slot, entry: card.id.routeEntry)
    let missing = carry.missing(at: slot, now: configuration.time.now())
    sendBacklog(slot, backlog.start(slot, keys: missing.map(\.id.key)))
    _ = await deliveries.send(.neighbourUp(card))
  }

  private func neighbourDown(_ slot: Int, _ peer: PeerID) async {
    peers[slot] = nil
    state.linkDown(slot)
    backlog.stop(slot)
    _ = await deliveries.send(.neighbourDown(peer))
  }

  private func acknowledged(_ slot: Int, _ keys: [UInt64]) async {
    for key in keys {
      carry.mark(key, heldBy: slot)
      if !own.isEmpty, own.remove(key) != nil, let peer = peers[slot] {
        _ = await deliveries.send(.handedOver(key: key, peer))
      }
    }
    sendBacklog(slot, backlog.acknowledged(slot, keys: keys))
  }

  private func sendBacklog(_ slot: Int, _ keys: [UInt64]) {
    var links = LinkSet.none
    links.insert(slot)
    var remaining = keys
    var next = 0
    while next < remaining.count {
      let key = remaining[next]
      next += 1
      guard let packet = carry[key] else {
        // It went while it waited: its place in the backlog is free for the next.
        remaining += backlog.acknowledged(slot, keys: [key])
        continue
      }
      offer(
        key, packet.kind, packet.bytes, to: links, since: packet.since, expiry: packet.expiry, isBacklog: true)
    }
  }
}

extension RelayCount {
  init(_ verdict: RelayState.Verdict) {
    switch verdict {
    case .accepted: self = .accepted
    case .upgraded: self = .upgraded
    case .duplicate: self = .duplicate
    case .expired: self = .expired
    case .tooOld: self = .tooOld
    case .wrongTime: self = .wrongTime
    case .blocked: self = .blocked
    }
  }
}
