package import Streams
internal import Verifying
package import WireFormat

/// What becomes of a packet, as the first rules of the mesh decide it.
///
/// * A packet is new when its recomputed `PacketID` was not seen. It is delivered here and forwarded to every link
///   but the one it came from and those whose peer stands in its route, as long as hops are left.
/// * The route only saves sends. It is written by relays and may lie: our own entry in it is counted, and is never a
///   reason to drop.
/// * A copy with at least two more hops left than the one relayed is relayed once more, because the first copy may
///   have come by a detour; it is not delivered again.
/// * A packet past its lifetime by its counted age is refused. Its time is held against our clock only when that
///   clock is known to be right, and the origin has not said that it does not know its own to be: otherwise nobody
///   would carry what a node without a clock says.
///
/// Pure, and free of allocation once its tables are warm.
package struct RelayState: Sendable {
  package enum Verdict: String, Sendable, CaseIterable {
    /// New: delivered here, and forwarded if any link and hop is left.
    case accepted
    /// Seen before, relayed again because this copy has more hops left.
    case upgraded
    case duplicate
    /// Older than the lifetime of its kind.
    case expired
    /// Made before the oldest moment we remember: nobody can say whether it was seen.
    case tooOld
    /// Its time is outside its lifetime by our synchronised clock.
    case wrongTime
    /// Its origin is blocked here: no airtime is spent on it.
    case blocked
  }

  package struct Decision: Sendable, Equatable {
    package var verdict: Verdict
    /// The links to forward it to.
    package var forward: LinkSet
    /// Our own entry stands in the route of a packet that we had not seen.
    package var isOwnRouteForged = false
    /// It is new and may not be forwarded any further.
    package var isOutOfHops = false
    /// A duplicate of a packet that an earlier run of this node has seen: what was kept of it for neighbours still to
    /// come is gone.
    package var isOfEarlierRun = false
  }

  private let hash: KeyedHash
  private let ownEntry: UInt32
  private let isDeduplicating: Bool
  /// Hops beyond which one copy is as good as another.
  private let enoughHops: UInt8
  package private(set) var seen: SeenTable
  package private(set) var links = LinkSet.none
  /// Origins for whom nothing is carried.
  private var blocked: Set<Tag> = []
  private var entries = [UInt32](repeating: 0, count: RoutingLimits.links + 1)
  /// What is to be kept for the next run; nil in a node that keeps nothing.
  package private(set) var history: SeenHistory?
  /// The second at which this run began, once it knows what an earlier one has seen.
  private var beginSecond: UInt64?

  /// - Parameters:
  ///   - key: 128 random bits of this process, for the keyed hash.
  ///   - ownEntry: how this node stands in a route.
  ///   - isDeduplicating: false only to show what the mesh does without the table.
  ///   - enoughHops: a copy is relayed once more only when the one before had fewer left.
  package init(
    key: (UInt64, UInt64), ownEntry: UInt32, seen: SeenTable = SeenTable(), isDeduplicating: Bool = true,
    enoughHops: UInt8 = .max
  ) {
    self.enoughHops = enoughHops
    hash = KeyedHash(key0: key.0, key1: key.1)
    self.ownEntry = ownEntry
    self.seen = seen
    self.isDeduplicating = isDeduplicating
  }

  package mutating func linkUp(_ slot: Int, entry: UInt32) {
    links.insert(slot)
    entries[slot & 63] = entry
  }

  package mutating func linkDown(_ slot: Int) { links.remove(slot) }

  /// Replaces the origins for whom nothing is delivered or carried.
  package mutating func block(_ origins: Set<Tag>) { blocked = origins }

  /// Decides about a packet that came in.
  ///
  /// - Parameters:
  ///   - id: recomputed from the bytes.
  ///   - slot: the link it came from, `SeenTable.ownSlot` for one of our own.
  ///   - now: the clock that never jumps.
  ///   - wallMilliseconds: the time of day, only when it is known to be synchronised.
  package mutating func receive(
    _ packet: borrowing Packet, id: PacketID, from slot: Int, now: MonotonicTime, wallMilliseconds: UInt64?
  ) -> Decision {
    let header = packet.header
    let lifetime = header.kind.lifetime
    if !blocked.isEmpty, slot != Int(SeenTable.ownSlot), blocked.contains(header.origin), !OriginNotBlocked.isSkipped {
      return Decision(verdict: .blocked, forward: .none)
    }
    if UInt64(header.age) >= lifetime, !PacketAge.isSkipped { return Decision(verdict: .expired, forward: .none) }
    if let wall = wallMilliseconds, !header.flags.contains(.clockUnsure),
      isOutside(header.time, age: header.age, lifetime: lifetime, wall: wall),
      !PacketTime.isSkipped
    {
      return Decision(verdict: .wrongTime, forward: .none)
    }
    let second = Self.second(now)
    let origin = UInt8(truncatingIfNeeded: slot)
    if isMadeBefore(seen.watermark(forLink: origin), age: header.age, second: second), !PacketRemembered.isSkipped {
      return Decision(verdict: .tooOld, forward: .none)
    }
    let hopsLeft = header.forwardsLeft
    let hash = self.hash(id)
    let isOfEarlierRun = beginSecond.map { seen.contains(hash, since: $0, now: second) } ?? false
    if isOfEarlierRun, origin == SeenTable.ownSlot {
      // Sent again because nobody is known to have it.
      seen.renewOwn(hash, hopsLeft: hopsLeft, second: second)
      return forwarding(packet, verdict: .accepted, hopsLeft: hopsLeft, from: slot)
    }
    switch seen.insert(hash, hopsLeft: min(hopsLeft, enoughHops), from: origin, second: second) {
    case .new:
      history?.note(id, second: second, hopsLeft: hopsLeft)
      return forwarding(packet, verdict: .accepted, hopsLeft: hopsLeft, from: slot)
    case .upgrade: return forwarding(packet, verdict: .upgraded, hopsLeft: hopsLeft, from: slot)
    case .duplicate:
      if !isDeduplicating || PacketSeen.isSkipped {
        return forwarding(packet, verdict: .accepted, hopsLeft: hopsLeft, from: slot)
      }
      return Decision(verdict: .duplicate, forward: .none, isOfEarlierRun: isOfEarlierRun)
    }
  }

  // MARK: What outlives a run

  /// Seconds on the clock of the table, which is at its horizon when the monotonic clock starts: what an earlier run saw
  /// lies before that, and is still told as a second.
  package static func second(_ now: MonotonicTime) -> UInt64 {
    now.nanoseconds / 1_000_000_000 &+ RoutingLimits.dedupHorizonSeconds
  }

  /// From now on what is seen is noted for the next run. Called once, before the first packet.
  ///
  /// - Parameter run: a random number of this run.
  package mutating func beginHistory(run: UInt64) { history = SeenHistory(run: run) }

  /// Takes a group that an earlier run has kept. Called with the newest first, before the first packet of a neighbour;
  /// packets of our own may have gone out.
  ///
  /// - Parameters:
  ///   - bytes: nil for one that did not open.
  ///   - load: began at this start of the node.
  package mutating func restore(_ bytes: [UInt8]?, number: Int64, _ load: inout SeenLoad) {
    beginSecond = load.second
    guard let group = load.take(bytes, number: number) else { return }
    seen.raiseWatermark(to: group.watermarkSecond)
    let now = load.second
    load.inserted(
      group.forEach { (id, second, hopsLeft) in
        seen.restore(hash(id), hopsLeft: hopsLeft, second: second, now: now)
      })
    seen.raiseWatermark(to: load.leftOutSecond)
  }

  /// All that was kept has been taken, or could not be read.
  package mutating func endRestore(_ load: SeenLoad) { history?.adopt(load) }

  /// What is to be kept now; nil when nothing is. It counts as kept when `saved` is called.
  ///
  /// - Parameter wallMilliseconds: the time of day, right or not.
  package mutating func save(now: MonotonicTime, wallMilliseconds: UInt64, isClockSynchronised: Bool) -> SeenSave? {
    history?.save(
      second: Self.second(now), wallMilliseconds: wallMilliseconds, isClockSynchronised: isClockSynchronised,
      watermarkSecond: seen.watermarkSecond)
  }

  package mutating func saved(_ save: SeenSave) { history?.saved(save) }

  /// What was to be kept could not be: it comes with the next.
  package mutating func saveFailed() { history?.failed() }

  private func forwarding(
    _ packet: borrowing Packet, verdict: Verdict, hopsLeft: UInt8, from slot: Int
  ) -> Decision {
    var decision = Decision(verdict: verdict, forward: .none)
    let isOwn = slot == Int(SeenTable.ownSlot)
    if hopsLeft == 0, !isOwn {
      decision.isOutOfHops = true
      return decision
    }
    var targets = links
    targets.remove(slot)
    let routeCount = packet.header.routeCount
    var index = 0
    while index < routeCount {
      let entry = packet.routeEntry(at: index)
      if entry == ownEntry { decision.isOwnRouteForged = true }
      var rest = targets
      while let target = rest.popFirst() {
        if entries[target & 63] == entry { targets.remove(target) }
      }
      index &+= 1
    }
    decision.forward = targets
    return decision
  }

  /// By its age the packet was made at `wall − age`, and its time may not lie ahead of that either: a neighbour that
  /// makes a packet older than it is, so that it dies in the hands of others, is not believed.
  private func isOutside(_ time: UInt64, age: UInt32, lifetime: UInt64, wall: UInt64) -> Bool {
    let (end, isOver) = time.addingReportingOverflow(lifetime &+ RoutingLimits.pastToleranceMilliseconds)
    if !isOver, end < wall { return true }
    return time > wall &- min(wall, UInt64(age)) &+ RoutingLimits.futureToleranceMilliseconds
  }

  private func isMadeBefore(_ watermark: UInt64, age: UInt32, second: UInt64) -> Bool {
    watermark > 0 && second &- min(second, UInt64(age / 1_000)) < watermark
  }
}

/// The origin of a packet is not blocked here.
enum OriginNotBlocked: Verification {
  static let name = "origin-not-blocked"
}

/// A packet is within its lifetime by its counted age.
enum PacketAge: Verification {
  static let name = "packet-age"
}

/// The time of a packet is within its lifetime by a clock that is known to be right.
enum PacketTime: Verification {
  static let name = "packet-time"
}

/// A packet is not from before the oldest moment we remember.
enum PacketRemembered: Verification {
  static let name = "packet-remembered"
}

/// A packet was not seen before.
enum PacketSeen: Verification {
  static let name = "packet-seen"
}
