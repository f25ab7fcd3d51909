package import Streams
package import WireFormat

/// What is to be told to each link about trees: origins to be pruned, and keys of packets that are not pushed there.
///
/// Prunes wait for company for `RoutingLimits.pruneDelay`, announcements for between half and the whole of
/// `RoutingLimits.announceInterval`, at a phase of their own so that neighbours do not all announce at once. Bounded; what
/// has no room is counted. Pure, and free of allocation for what is added once it is warm.
package struct TreeNews: Sendable {
  /// A packet and the links that have not been sent it.
  package struct Announcement: Sendable {
    package var key: UInt64
    package var links: LinkSet
  }

  private var prunes = [[Tag]](repeating: [], count: 64)
  private var pruning = LinkSet.none
  private var pruneAt = MonotonicTime.never
  /// What waits to be announced, in the order in which it came.
  package private(set) var announcements: [Announcement] = []
  private var announceAt = MonotonicTime.never
  private var random: UInt64

  /// - Parameter seed: random bits of this node.
  package init(seed: UInt64) { random = seed }

  package var deadline: MonotonicTime? {
    let earliest = min(pruneAt, announceAt)
    return earliest == .never ? nil : earliest
  }

  /// - Parameter isUrgent: what waits is announced now.
  /// - Returns: false when there was no room.
  package mutating func announce(
    _ key: UInt64, to links: LinkSet, isUrgent: Bool = false, now: MonotonicTime
  ) -> Bool {
    guard !links.isEmpty else { return true }
    guard announcements.count < RoutingLimits.waitingAnnouncements else { return false }
    announcements.append(Announcement(key: key, links: links))
    if isUrgent { announceAt = min(announceAt, now) } else { wake(now: now) }
    return true
  }

  /// Announcements will have something to do: at the phase of this node, if not earlier.
  package mutating func wake(now: MonotonicTime) {
    guard announceAt == .never else { return }
    let half =
      UInt64(RoutingLimits.announceInterval.components.attoseconds / 2_000_000_000)
      + UInt64(RoutingLimits.announceInterval.components.seconds) * 500_000_000
    announceAt = MonotonicTime(nanoseconds: now.nanoseconds &+ half &+ next() % half)
  }

  package mutating func prune(_ origin: Tag, on slot: Int, now: MonotonicTime) {
    guard prunes[slot & 63].count < RoutingLimits.waitingPrunes, !prunes[slot & 63].contains(origin) else { return }
    prunes[slot & 63].append(origin)
    pruning.insert(slot)
    if pruneAt == .never { pruneAt = now.advanced(by: RoutingLimits.pruneDelay) }
  }

  /// The origin is wanted on this link after all.
  package mutating func keep(_ origin: Tag, on slot: Int) {
    guard pruning.contains(slot) else { return }
    prunes[slot & 63].removeAll { $0 == origin }
  }

  package mutating func lost(_ slot: Int) {
    prunes[slot & 63].removeAll(keepingCapacity: true)
    pruning.remove(slot)
  }

  /// - Parameter take: gets each link and what is to be pruned there.
  package mutating func takePrunes(now: MonotonicTime, _ take: (Int, [Tag]) -> Void) {
    guard pruneAt <= now else { return }
    pruneAt = .never
    while let slot = pruning.popFirst() {
      if !prunes[slot].isEmpty { take(slot, prunes[slot]) }
      prunes[slot].removeAll(keepingCapacity: true)
    }
  }

  /// Whether `announcements` are to go now.
  package func isTimeToAnnounce(_ now: MonotonicTime) -> Bool { announceAt <= now }

  /// They have gone.
  package mutating func announced() {
    announceAt = .never
    announcements.removeAll(keepingCapacity: true)
  }

  /// SplitMix64: spreads the phases, keeps no secret.
  private mutating func next() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    var mixed = random
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
