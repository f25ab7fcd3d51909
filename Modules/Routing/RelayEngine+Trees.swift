internal import Bytes
package import Streams
package import WireFormat

/// Trees: who is pushed to, who is told only, and who is asked.
///
/// * A new packet is pushed at once to every link but the one it came over and those that have asked us to stop for its
///   origin. Those get its key within a second, unless they are known to have it. The route decides nothing between
///   neighbours that know trees: it saves little once there is a tree, and may lie.
/// * A second copy makes its link stop for that origin, unless it comes from the parent.
/// * What is announced and does not come is asked for. The question makes the neighbour push the origin again.
/// * A link that is lost was the way of some origins: for each of them one neighbour that has a way of its own is asked to
///   push again. Asking all of them is quicker where that neighbour has its way through us, and costs a copy for each link.
/// * A new neighbour is greeted with a reopen frame, and with a prune of the origins that speak now and have a way already:
///   whether the new link would be a quicker one is seen from its announcements. With one that answers with any frame of the
///   trees it is compared what either lacks of what was said before, and one that does not answer gets the packets whole.
extension RelayEngine {
  // MARK: Packets

  /// - Returns: the links to push a new packet to.
  mutating func push(
    _ header: PacketHeader, _ key: UInt64, to links: LinkSet, from slot: Int, now: MonotonicTime,
    into actions: inout [RelayAction]
  ) -> LinkSet {
    guard configuration.usesTrees else { return links }
    let origin = header.origin
    let isLive = UInt64(header.age) < RoutingLimits.liveMilliseconds
    let announced = missing.settle(key)
    let isProbe = key & RoutingLimits.probeMask == 0
    let isLate =
      isProbe
      && announced.map {
        $0.askedNow == nil && Int($0.first) != slot && state.links.contains(Int($0.first))
          && now.since($0.announcedAt) > RoutingLimits.lateBy
      } == true
    let arrival = trees.arrived(
      origin, from: slot, isLive: isLive, isPunctual: isProbe && !isLate, linkCount: state.links.count, now: now)
    if arrival.mustReopen {
      news.keep(origin, on: slot)
      Self.send(.reopen([origin]), to: slot, counting: .reopensSent, 1, into: &actions)
    }
    if isLate, isLive, let announced, trees.parent(of: origin) == slot { wasLate(origin, announced, now, &actions) }
    // A route may lie, and is another for the next packet: it decides for those only that cannot say what they want.
    var pushed = LinkSet(bits: links.bits | state.links.intersection(acquaintances.knowing).bits)
    pushed = pushed.subtracting(arrival.quiet)
    pushed.remove(slot)
    var told = state.links.subtracting(pushed)
    told.remove(slot)
    if !news.announce(key, to: told, isUrgent: isProbe, now: now) { actions.append(.count(.announcementsDropped, 1)) }
    return pushed
  }

  private mutating func wasLate(
    _ origin: Tag, _ announced: MissingPackets.Missing, _ now: MonotonicTime, _ actions: inout [RelayAction]
  ) {
    let first = Int(announced.first)
    guard let former = trees.wasLate(origin, behind: first) else { return }
    actions.append(.count(.parentsReplaced, 1))
    news.keep(origin, on: first)
    Self.send(.reopen([origin]), to: first, counting: .reopensSent, 1, into: &actions)
    if former < RoutingLimits.treeLinks { news.prune(origin, on: former, now: now) }
  }

  /// A packet has come once more.
  mutating func repeated(_ received: ReceivedPacket, now: MonotonicTime) {
    guard configuration.usesTrees else { return }
    let key = received.id.key
    if missing.settle(key) != nil || carry[key] == nil { met.insert(key) }
    guard acquaintances.knowing.contains(received.slot) else { return }
    let header = received.packet.header
    let isLive = UInt64(header.age) < RoutingLimits.liveMilliseconds
    if trees.repeated(header.origin, from: received.slot, isLive: isLive) {
      news.prune(header.origin, on: received.slot, now: now)
    }
  }

  /// A packet that is not kept is not to be asked for either.
  mutating func unwanted(_ key: UInt64) {
    guard configuration.usesTrees else { return }
    _ = missing.settle(key)
    met.insert(key)
  }

  // MARK: Neighbours

  mutating func greet(_ slot: Int, now: MonotonicTime, into actions: inout [RelayAction]) {
    Self.send(.reopen([]), to: slot, counting: .reopensSent, 1, into: &actions)
    let known = trees.cameUp(slot, now: now)
    if !known.isEmpty {
      Self.send(.prune(known), to: slot, counting: .prunesSent, UInt64(known.count), into: &actions)
    }
    if acquaintances.knowing.contains(slot) {
      reconciler.up(slot, now: now)
    } else {
      acquaintances.wait(for: slot, now: now)
    }
  }

  mutating func lost(_ slot: Int, now: MonotonicTime, into actions: inout [RelayAction]) {
    news.lost(slot)
    acquaintances.lost(slot)
    reconciler.down(slot)
    missing.lost(slot)
    var orphans: [OriginTrees.Orphan] = []
    trees.lost(slot, remaining: state.links.intersection(acquaintances.knowing), now: now, orphans: &orphans)
    var asked = [[Tag]](repeating: [], count: RoutingLimits.treeLinks)
    var left: UInt64 = 0
    for orphan in orphans {
      if asked[orphan.slot].count < RoutingLimits.reopenedOrigins {
        asked[orphan.slot].append(orphan.origin)
        news.keep(orphan.origin, on: orphan.slot)
      } else {
        left += 1
      }
    }
    if left > 0 { actions.append(.count(.orphansLeft, left)) }
    for slot in asked.indices where !asked[slot].isEmpty {
      Self.send(.reopen(asked[slot]), to: slot, counting: .reopensSent, UInt64(asked[slot].count), into: &actions)
    }
  }

  /// A neighbour has sent a frame of the trees.
  package mutating func control(
    _ frame: LinkFrame, from slot: Int, now: MonotonicTime, into actions: inout [RelayAction]
  ) {
    guard configuration.usesTrees, state.links.contains(slot) else {
      actions.append(.count(.controlIgnored, 1))
      return
    }
    acquaintances.met(slot)
    if !reconciler.isUp(slot) { reconciler.up(slot, now: now) }
    switch frame {
    case .prune(let origins):
      for origin in origins { trees.pruned(origin, by: slot) }
      actions.append(.count(.prunesReceived, UInt64(origins.count)))
    case .reopen(let origins):
      if origins.isEmpty { trees.reopenedAll(by: slot) }
      for origin in origins { trees.reopened(origin, by: slot) }
      actions.append(.count(.reopensReceived, UInt64(max(1, origins.count))))
    case .announcement(let keys): announced(keys, by: slot, now: now, into: &actions)
    case .reconciliation(let frame): reconcile(frame, from: slot, now: now, into: &actions)
    case .widen(let scope, let keys): widen(keys, to: scope, toldBy: slot, now: now, into: &actions)
    case .graft(let keys): for key in keys { answer(key, to: slot, now: now, into: &actions) }
    default: actions.append(.count(.controlIgnored, 1))
    }
  }

  private mutating func announced(
    _ keys: [UInt64], by slot: Int, now: MonotonicTime, into actions: inout [RelayAction]
  ) {
    var full: UInt64 = 0
    for key in keys {
      if carry[key] != nil {
        carry.mark(key, heldBy: slot)
        // Nobody announces what goes by a lane: it goes to everybody meanwhile.
        if carry[key]?.scope != .everybody {
          widen(key, to: .everybody, toldBy: slot, now: now, into: &actions)
        }
      } else if !met.contains(key), !carry.hasMet(key), missing.announced(key, by: slot, now: now) == .full {
        full += 1
      }
    }
    actions.append(.count(.announcementsReceived, UInt64(keys.count)))
    if full > 0 { actions.append(.count(.missingFull, full)) }
  }

  /// A neighbour misses what we have announced. What was said just now it is to get by itself from now on; what was said
  /// before it came says nothing about the way of the next.
  private mutating func answer(_ key: UInt64, to slot: Int, now: MonotonicTime, into actions: inout [RelayAction]) {
    guard let packet = carry[key], packet.expiry > now, let header = try? PacketHeader(decoding: packet.bytes.rawSpan)
    else {
      actions.append(.count(.graftsUnknown, 1))
      return
    }
    let age = UInt64(header.age) &+ now.milliseconds(since: packet.since)
    let isLive = age < RoutingLimits.liveMilliseconds
    if isLive { trees.reopened(packet.origin, by: slot) }
    actions.append(.count(.graftsAnswered, 1))
    offer(
      key, packet.kind, packet.bytes, to: LinkSet(slot), since: packet.since, expiry: packet.expiry,
      isBacklog: !isLive, into: &actions)
  }

  // MARK: Time

  /// When `tick` has something to do although nothing comes in.
  package var deadline: MonotonicTime? {
    var earliest = news.deadline ?? .never
    if let due = missing.deadline { earliest = min(earliest, due) }
    if let due = acquaintances.deadline { earliest = min(earliest, due) }
    earliest = min(earliest, reconciler.deadline, lanes.deadline)
    return earliest == .never ? nil : earliest
  }

  /// Sends what has waited long enough.
  ///
  /// - Parameter wallMilliseconds: the time of day, right or not.
  package mutating func tick(
    now: MonotonicTime, wallMilliseconds: UInt64, into actions: inout [RelayAction]
  ) {
    widenOverdue(now: now, into: &actions)
    compare(now: now, wallMilliseconds: wallMilliseconds, into: &actions)
    news.takePrunes(now: now) { slot, origins in
      Self.send(.prune(origins), to: slot, counting: .prunesSent, UInt64(origins.count), into: &actions)
    }
    ask(now: now, into: &actions)
    announce(now: now, into: &actions)
    var late = acquaintances.overdue(now: now)
    while let slot = late.popFirst() {
      actions.append(.count(.neighboursWithoutTrees, 1))
      sendMissing(slot, now: now, into: &actions)
    }
  }

  private mutating func ask(now: MonotonicTime, into actions: inout [RelayAction]) {
    var questions: [(slot: Int, key: UInt64)] = []
    let givenUp = missing.ask(now: now, questions: &questions)
    if givenUp > 0 { actions.append(.count(.missingGivenUp, UInt64(givenUp))) }
    guard !questions.isEmpty else { return }
    var keys = [[UInt64]](repeating: [], count: 64)
    for question in questions { keys[question.slot & 63].append(question.key) }
    for slot in keys.indices where !keys[slot].isEmpty {
      Self.send(.graft(keys[slot]), to: slot, counting: .graftsSent, UInt64(keys[slot].count), into: &actions)
    }
  }

  private mutating func announce(now: MonotonicTime, into actions: inout [RelayAction]) {
    guard news.isTimeToAnnounce(now) else { return }
    let listeners = state.links.intersection(acquaintances.knowing)
    var keys = [[UInt64]](repeating: [], count: 64)
    for announcement in news.announcements {
      guard let packet = carry[announcement.key] else { continue }
      var rest = announcement.links.intersection(listeners).subtracting(packet.holders)
      while let slot = rest.popFirst() { keys[slot].append(announcement.key) }
    }
    news.announced()
    for slot in keys.indices where !keys[slot].isEmpty {
      Self.send(
        .announcement(keys[slot]), to: slot, counting: .announcementsSent, UInt64(keys[slot].count), into: &actions)
    }
  }

  private static func send(
    _ frame: LinkFrame, to slot: Int, counting reason: RelayCount, _ number: UInt64, into actions: inout [RelayAction]
  ) {
    actions.append(.count(reason, number))
    actions.append(.control(slot: slot, frame))
  }
}
