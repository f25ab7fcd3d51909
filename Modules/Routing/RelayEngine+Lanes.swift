internal import Bytes
internal import Streams
internal import WireFormat

/// Lanes: a packet for one node goes to the next node towards it, and to nobody else.
///
/// * The next node is the destination itself where it is a neighbour, else the one over whose link a packet for one node came
///   from there, else the one whose copies from there have crossed fewest links, else the parent of its tree, else one that has a way of its own. A neighbour of the first rules gets the
///   packet as it always did, and floods it.
/// * Who has no next node, or only the one it has the packet from, loses nothing: it sends the packet to everybody that does not
///   have it, and tells those that have it to do the same. So does who meets a packet again on the same lane, because it has
///   gone round. Whatever goes to everybody goes as it always did: along the tree, announced, compared and kept for those
///   still to come.
/// * The origin waits for the answer, which only the session can tell from a forged one. Without one it has a second neighbour carry
///   the packet too, while those on the first lane choose another way where they have one; then it goes to everybody.
/// * Of one packet a node passes on one copy for each of these steps and no more. The steps are told to those that have the
///   packet by a frame of 10 bytes, which may be lost: an announcement, or a comparison, of a packet that is kept for a
///   lane says the same.
///
/// A neighbour is authenticated and a tag is not. Who sends under the tag of another draws the lanes to that node towards
/// itself, and who takes a packet over and drops it is not found out by the link: both cost the time until the origin has had no
/// answer twice, and nothing else, because a flood asks nobody which way to go.
extension RelayEngine {
  // MARK: What comes

  /// A new packet for one node, of our own.
  ///
  /// - Returns: how many neighbours it goes to now.
  mutating func originateForOne(
    _ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout [RelayAction]
  ) -> Int {
    var bytes = packet.encoded
    Packet.setScope(&bytes, at: 0, to: .lane)
    keep(packet, id: id, bytes: bytes, since: now, holders: .none, scope: .lane)
    guard let kept = carry[id.key], takeLane(kept, packet.header, except: .none, now: now, into: &actions) else {
      return widen(id.key, to: .everybody, toldBy: nil, now: now, into: &actions)
    }
    if packet.header.kind == .personal { lanes.wait(for: id.key, from: packet.header.destination, now: now) }
    return 1
  }

  /// A packet for one node has come, and was judged.
  ///
  /// - Returns: false when it is no matter of lanes.
  mutating func followLane(
    _ received: ReceivedPacket, _ decision: RelayState.Decision, into actions: inout [RelayAction]
  ) -> Bool {
    let header = received.packet.header
    let isForUs = isForUs(header.destination, header.kind)
    switch decision.verdict {
    case .accepted:
      guard header.scope != .everybody else { return false }
      beginLane(received, into: &actions)
      if isForUs { actions.append(.deliver(received.packet, id: received.id, receivedAt: received.receivedAt)) }
      return true
    case .duplicate, .upgraded:
      guard let held = carry[received.id.key] else {
        // Nobody else is to pass it on, so it is passed on again after a restart.
        guard decision.isOfEarlierRun, header.scope != .everybody else { return false }
        beginLane(received, into: &actions)
        if isForUs {
          actions.append(.answerAgain(received.packet, id: received.id, receivedAt: received.receivedAt))
        }
        return true
      }
      guard held.scope != .everybody else { return false }
      metOnLane(received, held, into: &actions)
      return true
    case .expired, .tooOld, .wrongTime, .blocked: return false
    }
  }

  private mutating func beginLane(_ received: ReceivedPacket, into actions: inout [RelayAction]) {
    let (header, key, now) = (received.packet.header, received.id.key, received.receivedAt)
    _ = missing.settle(key)
    learn(header, from: received.slot, now: now)
    guard header.forwardsLeft > 0 else { return unwanted(key) }
    keep(
      received.packet, id: received.id, bytes: forwarded(received.packet, scope: header.scope), since: now,
      holders: LinkSet(received.slot), scope: header.scope)
    guard !isForUs(header.destination, header.kind), let kept = carry[key] else { return }
    if !takeLane(kept, header, except: LinkSet(received.slot), now: now, into: &actions) {
      actions.append(.count(.lanesEnded, 1))
      widen(key, to: .everybody, toldBy: nil, now: now, into: &actions)
    }
  }

  /// A packet that is kept for a lane has come once more.
  private mutating func metOnLane(
    _ received: ReceivedPacket, _ held: CarriedPacket, into actions: inout [RelayAction]
  ) {
    let (header, key) = (received.packet.header, received.id.key)
    _ = missing.settle(key)
    carry.mark(key, heldBy: received.slot)
    if held.scope < header.scope {
      learn(header, from: received.slot, now: received.receivedAt)
      widen(key, to: header.scope, toldBy: received.slot, now: received.receivedAt, into: &actions)
    } else if header.scope == .lane, held.scope == .lane, !isForUs(header.destination, header.kind) {
      // It has gone round, by what somebody remembers of a mesh that has changed since: by another way from here. Who is out of
      // ways sends it to everybody, and if that one goes round as well the origin has no answer and does.
      actions.append(.count(.lanesClosed, 1))
      guard let wider = carry.widen(key, to: .lanes),
        takeAnotherLane(wider, header, among: state.links, now: received.receivedAt, into: &actions)
      else {
        widen(key, to: .everybody, toldBy: nil, now: received.receivedAt, into: &actions)
        return
      }
    }
  }

  /// The way back to the origin of a packet for one node.
  mutating func learn(_ header: PacketHeader, from slot: Int, now: MonotonicTime) {
    guard UInt64(header.age) < RoutingLimits.liveMilliseconds, header.origin != configuration.ownTag else { return }
    lanes.came(from: header.origin, over: slot, links: header.linksCrossed, now: now)
    if header.scope != .everybody {
      trees.learn(header.origin, from: slot, linkCount: state.links.count, now: now)
    }
  }

  /// How far it is to the origin over this link.
  @inline(__always)
  mutating func hear(_ header: PacketHeader, _ verdict: RelayState.Verdict, from slot: Int) {
    switch verdict {
    case .accepted, .duplicate, .upgraded:
      guard UInt64(header.age) < RoutingLimits.liveMilliseconds, header.origin != configuration.ownTag else { return }
      lanes.heard(header.origin, over: slot, links: header.linksCrossed)
    case .expired, .tooOld, .wrongTime, .blocked: break
    }
  }

  // MARK: The next node

  /// - Returns: false when there is none.
  private mutating func takeLane(
    _ packet: CarriedPacket, _ header: PacketHeader, except: LinkSet, now: MonotonicTime,
    into actions: inout [RelayAction]
  ) -> Bool {
    let key = packet.id.key
    guard let slot = next(to: header.destination, key, except: except, now: now) else { return false }
    var bytes = packet.bytes
    if !acquaintances.knowing.contains(slot) { Packet.setScope(&bytes, at: 0, to: .everybody) }
    lanes.sent(key, over: slot)
    actions.append(.count(.lanesTaken, 1))
    offer(
      key, packet.kind, bytes, to: LinkSet(slot), source: packet.source, since: packet.since, expiry: packet.expiry,
      into: &actions)
    return true
  }

  /// What is remembered of the way has failed: one that it has not taken yet.
  ///
  /// - Returns: false when there is none.
  private mutating func takeAnotherLane(
    _ packet: CarriedPacket, _ header: PacketHeader, among links: LinkSet, now: MonotonicTime,
    into actions: inout [RelayAction]
  ) -> Bool {
    lanes.forget(header.destination)
    let except = having(packet).union(LinkSet(bits: ~links.bits))
    return takeLane(packet, header, except: except, now: now, into: &actions)
  }

  /// Who has the packet, or is about to.
  private func having(_ packet: CarriedPacket) -> LinkSet { packet.holders.union(lanes.links(of: packet.id.key)) }

  private func next(to destination: Tag, _ key: UInt64, except: LinkSet, now: MonotonicTime) -> Int? {
    let links = state.links.subtracting(except)
    guard !links.isEmpty else { return nil }
    if let slot = lanes.slot(of: destination, among: links) { return slot }
    if let slot = lanes.way(to: destination, now: now), links.contains(slot) { return slot }
    if let slot = lanes.nearest(to: destination)?.slot, links.contains(slot) { return slot }
    if let slot = trees.parent(of: destination), links.contains(slot) { return slot }
    return trees.alternative(to: destination, among: links.intersection(acquaintances.knowing), mixed: key)
  }

  // MARK: Further

  /// A packet that is kept for a lane goes further.
  ///
  /// - Parameter toldBy: the neighbour that wants it to, and need not be told.
  /// - Returns: how many neighbours get it now.
  @discardableResult
  mutating func widen(
    _ key: UInt64, to scope: PacketScope, toldBy slot: Int?, now: MonotonicTime, into actions: inout [RelayAction]
  ) -> Int {
    guard let packet = carry.widen(key, to: scope), packet.expiry > now,
      let header = try? PacketHeader(decoding: packet.bytes.rawSpan)
    else { return 0 }
    var links = state.links
    if let slot {
      links.remove(slot)
      actions.append(.count(.widened, 1))
    }
    if isForUs(header.destination, header.kind) {
      if let whole = try? Packet(decoding: packet.bytes) {
        actions.append(.answerAgain(whole, id: packet.id, receivedAt: now))
      }
      // The second lane ends where the first one does.
      guard scope == .everybody else { return 0 }
    }
    return scope == .everybody
      ? spread(packet, header, among: links, now: now, into: &actions)
      : diverge(packet, header, among: links, now: now, into: &actions)
  }

  /// To everybody, as any other packet; who has it is told.
  private mutating func spread(
    _ packet: CarriedPacket, _ header: PacketHeader, among links: LinkSet, now: MonotonicTime,
    into actions: inout [RelayAction]
  ) -> Int {
    let key = packet.id.key
    let lacking = links.subtracting(packet.holders)
    let quiet = lacking.intersection(trees.links(of: header.origin).quiet).intersection(acquaintances.knowing)
    tell(key, .everybody, to: links.intersection(packet.holders), into: &actions)
    if !news.announce(key, to: quiet, now: now) { actions.append(.count(.announcementsDropped, 1)) }
    let pushed = lacking.subtracting(quiet)
    offer(
      key, packet.kind, packet.bytes, to: pushed, source: packet.source, since: packet.since, expiry: packet.expiry,
      into: &actions)
    return pushed.count
  }

  /// Another way beside the one that has brought no answer. Its origin takes both; who has it on the first lane takes another
  /// instead, or says it to the next node where there is none.
  private mutating func diverge(
    _ packet: CarriedPacket, _ header: PacketHeader, among links: LinkSet, now: MonotonicTime,
    into actions: inout [RelayAction]
  ) -> Int {
    let isTaken = takeAnotherLane(packet, header, among: links, now: now, into: &actions)
    if !isTaken || header.origin == configuration.ownTag {
      tell(packet.id.key, .lanes, to: links.intersection(packet.holders), into: &actions)
    }
    return isTaken ? 1 : 0
  }

  func tell(_ key: UInt64, _ scope: PacketScope, to links: LinkSet, into actions: inout [RelayAction]) {
    var rest = links.intersection(state.links).intersection(acquaintances.knowing)
    while let slot = rest.popFirst() { actions.append(.control(slot: slot, .widen(scope, [key]))) }
  }

  /// A neighbour wants packets to go further, or has them for everybody.
  mutating func widen(
    _ keys: [UInt64], to scope: PacketScope, toldBy slot: Int, now: MonotonicTime, into actions: inout [RelayAction]
  ) {
    for key in keys {
      if carry[key] != nil {
        carry.mark(key, heldBy: slot)
        widen(key, to: scope, toldBy: slot, now: now, into: &actions)
      } else if scope == .everybody, !met.contains(key), !carry.hasMet(key) {
        _ = missing.announced(key, by: slot, now: now)
      }
    }
  }

  // MARK: Links and time

  /// What was on its way over a link that is gone takes another one.
  mutating func mendLanes(_ slot: Int, now: MonotonicTime, into actions: inout [RelayAction]) {
    for key in lanes.lost(slot) {
      guard let packet = carry[key], packet.scope != .everybody, packet.expiry > now,
        let header = try? PacketHeader(decoding: packet.bytes.rawSpan)
      else { continue }
      actions.append(.count(.lanesMended, 1))
      if !takeLane(packet, header, except: having(packet), now: now, into: &actions) {
        widen(key, to: .everybody, toldBy: nil, now: now, into: &actions)
      }
    }
  }

  /// What has no answer in time goes further.
  mutating func widenOverdue(now: MonotonicTime, into actions: inout [RelayAction]) {
    for (key, destination) in lanes.overdue(now: now) {
      switch carry[key]?.scope {
      case .lane:
        actions.append(.count(.lanesDoubled, 1))
        widen(key, to: .lanes, toldBy: nil, now: now, into: &actions)
        lanes.wait(for: key, from: destination, now: now)
      case .lanes:
        actions.append(.count(.lanesWidened, 1))
        widen(key, to: .everybody, toldBy: nil, now: now, into: &actions)
      case .everybody, nil: break
      }
    }
  }

  /// A packet of our own was answered, or never will be: it goes no further. Who calls: the session, which alone knows a true
  /// answer.
  package mutating func answered(_ key: UInt64, into actions: inout [RelayAction]) {
    if lanes.answered(key) { actions.append(.count(.lanesAnswered, 1)) }
  }
}
