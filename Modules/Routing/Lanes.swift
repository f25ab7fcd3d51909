package import Streams
package import WireFormat

/// The next node towards another, as far as the trees do not say it, and the packets that are on their way by it.
///
/// * The link over which a packet of one node for another came is the best way back to that node, because it has carried such
///   packets, which a parent may have none of: so the answer takes the way of what it answers, and what is said next takes the
///   way of the answer. It is remembered for some minutes, in a table of fixed size.
/// * Of each origin that is heard the neighbour is remembered whose copy had crossed fewest links: the parent of a tree is the quickest
///   and half as far again. The count is written by relays and may lie, so where it has brought no answer once it is not asked again.
/// * A packet that the next node has not acknowledged is known, so that another takes it when the link is lost.
/// * A packet of our own that has no answer in time goes further: by a second lane, then to everybody.
///
/// Bounded; pure; free of allocation once it is warm.
package struct Lanes: Sendable {
  private struct Way: Sendable {
    var tag: UInt64 = 0
    var second: UInt32 = 0
    var slot: UInt8 = 0
    var links: UInt8 = 0
  }

  private struct Awaited: Sendable {
    var key: UInt64
    var destination: Tag
    var dueAt: MonotonicTime
  }

  private var ways: [Way] = []
  /// Of the hash of an origin 19 bits, the slot of the nearest neighbour 6, its links 7; no links for one that is not asked again.
  private var nearest: [UInt32] = []
  private var awaited: [Awaited] = []
  private var underWay: [UInt64: LinkSet] = [:]
  /// When an answer is overdue.
  package private(set) var deadline = MonotonicTime.never
  private let multiplier: UInt64
  private var neighbours = [UInt64](repeating: 0, count: 64)

  /// - Parameter secret: so that nobody can choose tags that meet in one place of the table.
  package init(secret: UInt64) { multiplier = secret ^ 0x9E37_79B9_7F4A_7C15 | 1 }

  // MARK: Ways

  /// Who is at the other end of a link.
  package mutating func neighbour(_ slot: Int, is tag: Tag?) { neighbours[slot & 63] = tag?.rawValue ?? 0 }

  /// A neighbour that is the destination itself.
  package func slot(of destination: Tag, among links: LinkSet) -> Int? {
    var rest = links
    while let slot = rest.popFirst() { if neighbours[slot] == destination.rawValue { return slot } }
    return nil
  }

  /// A packet for one node has come from `origin` over `slot`, after so many links.
  package mutating func came(from origin: Tag, over slot: Int, links: UInt8, now: MonotonicTime) {
    if ways.isEmpty { ways = Array(repeating: Way(), count: RoutingLimits.lanes) }
    ways[place(of: origin)] = Way(
      tag: origin.rawValue, second: Self.second(now), slot: UInt8(truncatingIfNeeded: slot), links: links)
  }

  /// A copy of a packet of `origin` has come over `slot`, after so many links.
  @inline(__always)
  package mutating func heard(_ origin: Tag, over slot: Int, links: UInt8) {
    if nearest.isEmpty { nearest = Array(repeating: 0, count: RoutingLimits.nearestNeighbours) }
    let (place, mark) = mark(origin)
    let entry = nearest[place]
    let crossed = UInt32(min(max(links, 1), 127))
    let via = UInt32(truncatingIfNeeded: slot & 63)
    if entry >> 13 == mark, entry != 0 {
      // What is as near as the one before says nothing new; the one before may have become farther.
      guard entry & 127 != 0, crossed < entry & 127 || via == entry >> 7 & 63 else { return }
    }
    nearest[place] = mark << 13 | via << 7 | crossed
  }

  /// The neighbour that is nearest to a node, and how many links that is from here.
  package func nearest(to destination: Tag) -> (slot: Int, links: UInt8)? {
    guard !nearest.isEmpty else { return nil }
    let (place, mark) = mark(destination)
    let entry = nearest[place]
    guard entry >> 13 == mark, entry & 127 != 0 else { return nil }
    return (Int(entry >> 7 & 63), UInt8(entry & 127))
  }

  private func mark(_ tag: Tag) -> (place: Int, mark: UInt32) {
    let mixed = mixed(tag)
    let place = Int(truncatingIfNeeded: mixed >> 40) & (RoutingLimits.nearestNeighbours - 1)
    return (place, UInt32(truncatingIfNeeded: mixed >> 21) & 0x7_FFFF)
  }

  /// The link to take towards a node, if one is remembered.
  package func way(to destination: Tag, now: MonotonicTime) -> Int? { known(destination, now).map { Int($0.slot) } }

  /// It has brought no answer.
  package mutating func forget(_ destination: Tag) {
    if !nearest.isEmpty {
      let (place, mark) = mark(destination)
      nearest[place] = mark << 13 | 63 << 7
    }
    guard !ways.isEmpty else { return }
    let place = place(of: destination)
    if ways[place].tag == destination.rawValue { ways[place] = Way() }
  }

  private func known(_ tag: Tag, _ now: MonotonicTime) -> Way? {
    guard !ways.isEmpty, tag != .everyone else { return nil }
    let way = ways[place(of: tag)]
    let kept = UInt32(truncatingIfNeeded: RoutingLimits.laneKept.components.seconds)
    return way.tag == tag.rawValue && Self.second(now) &- way.second <= kept ? way : nil
  }

  private func place(of tag: Tag) -> Int {
    Int(truncatingIfNeeded: mixed(tag) >> 40) & (RoutingLimits.lanes - 1)
  }

  private func mixed(_ tag: Tag) -> UInt64 { (tag.rawValue ^ tag.rawValue >> 32) &* multiplier }

  private static func second(_ now: MonotonicTime) -> UInt32 {
    UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000)
  }

  // MARK: Packets under way

  /// A packet was handed down for this link.
  package mutating func sent(_ key: UInt64, over slot: Int) {
    if underWay.count >= RoutingLimits.packetsOnLanes, underWay[key] == nil {
      underWay.removeAll(keepingCapacity: true)
    }
    underWay[key, default: .none].insert(slot)
  }

  /// The next node has it.
  @inline(__always)
  package mutating func acknowledged(_ key: UInt64, by slot: Int) {
    guard !underWay.isEmpty, var links = underWay[key] else { return }
    links.remove(slot)
    underWay[key] = links.isEmpty ? nil : links
  }

  /// The link is gone.
  ///
  /// - Returns: the packets that were under way there, in a fixed order.
  package mutating func lost(_ slot: Int) -> [UInt64] {
    for place in ways.indices where ways[place].slot == UInt8(truncatingIfNeeded: slot) { ways[place] = Way() }
    for place in nearest.indices where nearest[place] >> 7 & 63 == UInt32(slot) && nearest[place] & 127 != 0 {
      nearest[place] = 0
    }
    neighbours[slot & 63] = 0
    guard !underWay.isEmpty else { return [] }
    let keys = underWay.filter { $0.value.contains(slot) }.keys.sorted()
    for key in keys { acknowledged(key, by: slot) }
    return keys
  }

  /// Where a packet is under way.
  package func links(of key: UInt64) -> LinkSet { underWay[key] ?? .none }

  // MARK: Answers

  package var awaitedCount: Int { awaited.count }

  /// A packet of our own waits for its answer from now on, or once more.
  ///
  /// - Returns: until when it waits: three connection intervals for each link of the way, and a second.
  @discardableResult
  package mutating func wait(for key: UInt64, from destination: Tag, now: MonotonicTime) -> MonotonicTime {
    let links = known(destination, now)?.links ?? nearest(to: destination)?.links ?? RoutingLimits.linksUnknown
    let dueAt = now.advanced(by: RoutingLimits.answerPerLink * Int(links) + RoutingLimits.answerSlack)
    awaited.removeAll { $0.key == key }
    if awaited.count >= RoutingLimits.awaitedPackets { awaited.removeFirst() }
    awaited.append(Awaited(key: key, destination: destination, dueAt: dueAt))
    deadline = min(deadline, dueAt)
    return dueAt
  }

  /// - Returns: false when nobody waited for it.
  package mutating func answered(_ key: UInt64) -> Bool {
    guard let index = awaited.firstIndex(where: { $0.key == key }) else { return false }
    awaited.remove(at: index)
    return true
  }

  /// - Returns: the packets whose answer is overdue, oldest first, and whom they are for. They wait no more.
  package mutating func overdue(now: MonotonicTime) -> [(key: UInt64, destination: Tag)] {
    guard deadline <= now else { return [] }
    let due = awaited.filter { $0.dueAt <= now }
    awaited.removeAll { $0.dueAt <= now }
    deadline = awaited.reduce(.never) { min($0, $1.dueAt) }
    return due.map { ($0.key, $0.destination) }
  }
}
