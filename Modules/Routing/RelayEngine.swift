package import Streams
package import WireFormat

/// Everything a relay decides, as one value: what happens goes in with its time, what is to be done is appended to the
/// caller's list, which it reuses. The `Relay` only carries it out, and so does a simulator of a whole mesh.
///
/// It knows its neighbours by the slot of their link and by how they stand in a route. Pure and bounded: the tables
/// grow as they are used, up to `RoutingLimits`, and nothing is allocated for a decision once they are warm but the bytes
/// of what is passed on.
package struct RelayEngine: Sendable {
  package struct Configuration: Sendable {
    /// 128 random bits of this process.
    package var key: (UInt64, UInt64)
    /// How this node stands in a route.
    package var ownEntry: UInt32
    package var ownTag: Tag
    /// Whether this node writes itself into the route of what it forwards.
    package var isNamedInRoutes: Bool
    /// False only to show what happens without the table of seen packets.
    package var isDeduplicating: Bool
    /// False for the first rules alone: everything new to every link.
    package var usesTrees: Bool

    package init(
      key: (UInt64, UInt64), ownEntry: UInt32, ownTag: Tag, isNamedInRoutes: Bool = true, isDeduplicating: Bool = true,
      usesTrees: Bool = true
    ) {
      self.key = key
      self.ownEntry = ownEntry
      self.ownTag = ownTag
      self.isNamedInRoutes = isNamedInRoutes
      self.isDeduplicating = isDeduplicating
      self.usesTrees = usesTrees
    }
  }

  let configuration: Configuration
  /// The memory of what was seen, and what of it is to outlive the run.
  package var state: RelayState
  var carry: CarryStore
  var backlog = Backlog()
  var trees: OriginTrees
  var missing = MissingPackets()
  var news: TreeNews
  /// Keys of packets that were met and are not carried.
  var met = MetKeys()
  var acquaintances = Acquaintances()
  var reconciler: Reconciler
  var lanes: Lanes
  /// Own packets that no neighbour has yet.
  private var own: Set<UInt64> = []

  package init(configuration: Configuration, seen: SeenTable = SeenTable(), carry: CarryStore = CarryStore()) {
    self.configuration = configuration
    self.carry = carry
    trees = OriginTrees(own: configuration.ownTag, secret: configuration.key.0)
    news = TreeNews(seed: configuration.key.1)
    reconciler = Reconciler(key: configuration.key)
    lanes = Lanes(secret: configuration.key.0)
    state = RelayState(
      key: configuration.key, ownEntry: configuration.ownEntry, seen: seen,
      isDeduplicating: configuration.isDeduplicating,
      enoughHops: configuration.usesTrees ? RoutingLimits.enoughHops : .max)
  }

  /// Numbers for people: packets remembered, packets kept, bytes kept.
  package var tables: (remembered: Int, carried: Int, carriedBytes: Int) {
    (state.seen.count, carry.packetCount, carry.byteCount)
  }

  // MARK: Packets

  /// Sends a packet of our own on its way; it is kept for neighbours still to come.
  ///
  /// - Returns: how many neighbours it goes to now.
  package mutating func originate(
    _ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout [RelayAction]
  ) -> Int {
    let decision = state.receive(packet, id: id, from: Int(SeenTable.ownSlot), now: now, wallMilliseconds: nil)
    guard decision.verdict == .accepted else { return 0 }
    actions.append(.count(.originated, 1))
    if own.count >= RoutingLimits.ownPackets { own.removeAll(keepingCapacity: true) }
    own.insert(id.key)
    if configuration.usesTrees, packet.header.isForOne {
      return originateForOne(packet, id: id, now: now, into: &actions)
    }
    keep(packet, id: id, bytes: packet.encoded, since: now, holders: .none)
    let pushed = push(
      packet.header, id.key, to: decision.forward, from: Int(SeenTable.ownSlot), now: now, into: &actions)
    offer(
      id.key, packet.header.kind, packet.encoded, to: pushed, since: now, expiry: expiry(packet, at: now),
      into: &actions)
    return decision.forward.count
  }

  /// Decides about a packet of a neighbour.
  ///
  /// - Parameter wallMilliseconds: the time of day, only when it is known to be synchronised.
  package mutating func receive(
    _ received: ReceivedPacket, wallMilliseconds: UInt64?, into actions: inout [RelayAction]
  ) {
    let header = received.packet.header
    let decision = state.receive(
      received.packet, id: received.id, from: received.slot, now: received.receivedAt,
      wallMilliseconds: wallMilliseconds)
    actions.append(.record(decision.verdict))
    if decision.isOutOfHops { actions.append(.count(.outOfHops, 1)) }
    if decision.isOwnRouteForged { actions.append(.count(.ownRouteForged, 1)) }
    if configuration.usesTrees { hear(header, decision.verdict, from: received.slot) }
    if header.isForOne, configuration.usesTrees, followLane(received, decision, into: &actions) { return }
    switch decision.verdict {
    case .duplicate:
      if decision.isOfEarlierRun, header.forwardsLeft > 0 {
        // It is not passed on at once again; but who comes later and misses it shall have it, as without the restart.
        keep(
          received.packet, id: received.id, bytes: forwarded(received.packet), since: received.receivedAt,
          holders: LinkSet(received.slot))
      }
      carry.mark(received.id.key, heldBy: received.slot)
      repeated(received, now: received.receivedAt)
    case .expired, .tooOld, .wrongTime, .blocked: unwanted(received.id.key)
    case .accepted, .upgraded:
      forward(received, to: decision.forward, isNew: decision.verdict == .accepted, into: &actions)
      if decision.verdict == .accepted, isForUs(header.destination, header.kind) {
        actions.append(.deliver(received.packet, id: received.id, receivedAt: received.receivedAt))
      }
    }
  }

  /// Nothing of these origins is delivered or passed on any more, nor what is kept of them for neighbours still to come.
  package mutating func block(_ origins: Set<Tag>, into actions: inout [RelayAction]) {
    state.block(origins)
    let gone = carry.remove(of: origins)
    actions.append(.count(.carriedBlocked, UInt64(gone.count)))
  }

  private mutating func forward(
    _ received: ReceivedPacket, to links: LinkSet, isNew: Bool, into actions: inout [RelayAction]
  ) {
    let header = received.packet.header
    guard header.forwardsLeft > 0 else {
      unwanted(received.id.key)
      return
    }
    if isNew, header.isForOne, configuration.usesTrees { learn(header, from: received.slot, now: received.receivedAt) }
    let pushed =
      isNew
      ? push(header, received.id.key, to: links, from: received.slot, now: received.receivedAt, into: &actions)
      : links.subtracting(trees.links(of: header.origin).quiet)
    if !isNew { repeated(received, now: received.receivedAt) }
    let bytes = forwarded(received.packet)
    keep(
      received.packet, id: received.id, bytes: bytes, since: received.receivedAt, holders: LinkSet(received.slot))
    offer(
      received.id.key, header.kind, bytes, to: pushed, source: UInt8(truncatingIfNeeded: received.slot),
      since: received.receivedAt, expiry: expiry(received.packet, at: received.receivedAt), into: &actions)
  }

  /// As it goes out from here.
  func forwarded(_ packet: Packet, scope: PacketScope = .everybody) -> [UInt8] {
    let isNamed = configuration.isNamedInRoutes && packet.header.kind.carriesRoute
    return packet.relayed(addingAge: 0, appending: isNamed ? configuration.ownEntry : nil, scope: scope)
  }

  func offer(
    _ key: UInt64, _ kind: PacketKind, _ bytes: [UInt8], to links: LinkSet, source: UInt8 = SeenTable.ownSlot,
    since: MonotonicTime, expiry: MonotonicTime, isBacklog: Bool = false, into actions: inout [RelayAction]
  ) {
    guard !links.isEmpty else { return }
    actions.append(
      .offer(
        OutboundPacket(
          key: key, kind: kind, bytes: bytes, links: links, source: source, since: since, expiry: expiry,
          isBacklog: isBacklog)))
  }

  mutating func keep(
    _ packet: Packet, id: PacketID, bytes: [UInt8], since: MonotonicTime, holders: LinkSet,
    scope: PacketScope = .everybody
  ) {
    let source = holders.isEmpty ? SeenTable.ownSlot : UInt8(truncatingIfNeeded: holders.bits.trailingZeroBitCount)
    carry.insert(
      CarriedPacket(
        id: id, kind: packet.header.kind, origin: packet.header.origin, bytes: bytes, since: since,
        expiry: expiry(packet, at: since), unit: PacketSet.unit(packet.header.time), holders: holders,
        scope: scope, source: source))
  }

  private func expiry(_ packet: Packet, at time: MonotonicTime) -> MonotonicTime {
    let left = packet.header.kind.lifetime.subtractingReportingOverflow(UInt64(packet.header.age))
    return left.overflow ? time : time.advanced(by: .milliseconds(Int64(clamping: left.partialValue)))
  }

  func isForUs(_ destination: Tag, _ kind: PacketKind) -> Bool {
    (destination == .everyone || destination == configuration.ownTag) && kind.isForSessions
  }

  // MARK: Neighbours

  /// - Parameters:
  ///   - entry: how the neighbour stands in a route.
  ///   - tag: under which it sends and is sent to.
  package mutating func neighbourUp(
    _ slot: Int, entry: UInt32, tag: Tag? = nil, now: MonotonicTime, into actions: inout [RelayAction]
  ) {
    state.linkUp(slot, entry: entry)
    lanes.neighbour(slot, is: tag)
    reconciler.setLeading(slot, configuration.ownEntry < entry)
    guard configuration.usesTrees else {
      sendMissing(slot, now: now, into: &actions)
      return
    }
    greet(slot, now: now, into: &actions)
  }

  /// Everything that the neighbour is not known to have, whole.
  mutating func sendMissing(_ slot: Int, now: MonotonicTime, into actions: inout [RelayAction]) {
    let missing = carry.missing(at: slot, now: now)
    sendBacklog(slot, backlog.start(slot, keys: missing.map(\.id.key)), into: &actions)
  }

  package mutating func neighbourDown(_ slot: Int, now: MonotonicTime, into actions: inout [RelayAction]) {
    state.linkDown(slot)
    backlog.stop(slot)
    guard configuration.usesTrees else { return }
    lost(slot, now: now, into: &actions)
    mendLanes(slot, now: now, into: &actions)
  }

  /// The slot belongs to another peer from now on.
  package mutating func reassigned(_ slot: Int) {
    carry.forgetHolder(slot)
    acquaintances.forget(slot)
  }

  /// The neighbour has taken these packets over, by `PacketID.key`.
  package mutating func acknowledged(_ slot: Int, keys: [UInt64], into actions: inout [RelayAction]) {
    for key in keys {
      carry.mark(key, heldBy: slot)
      lanes.acknowledged(key, by: slot)
      if !own.isEmpty, own.remove(key) != nil { actions.append(.handedOver(key: key, slot: slot)) }
    }
    sendBacklog(slot, backlog.acknowledged(slot, keys: keys), into: &actions)
  }

  mutating func sendBacklog(_ slot: Int, _ keys: [UInt64], into actions: inout [RelayAction]) {
    guard !keys.isEmpty else { return }
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
        key, packet.kind, packet.bytes, to: LinkSet(slot), since: packet.since, expiry: packet.expiry,
        isBacklog: true, into: &actions)
    }
  }
}
