package import Streams

/// Which neighbours have shown that they know trees, and what of earlier is still to be announced to them.
///
/// A neighbour that comes is waited for: when it has said nothing of the kind within `RoutingLimits.acquaintance`, it gets
/// what it misses whole.
package struct Acquaintances: Sendable {
  private var earlier = [[UInt64]](repeating: [], count: 64)
  private var waitUntil = [MonotonicTime](repeating: .never, count: 64)
  private var waiting = LinkSet.none
  /// Neighbours that know trees, by slot; also while they are away.
  package private(set) var knowing = LinkSet.none
  /// Neighbours to whom something of earlier is to be announced.
  package private(set) var behind = LinkSet.none
  package private(set) var deadline: MonotonicTime?

  package init() {}

  package mutating func wait(for slot: Int, now: MonotonicTime) {
    waiting.insert(slot)
    waitUntil[slot & 63] = now.advanced(by: RoutingLimits.acquaintance)
    setDeadline()
  }

  /// - Returns: whether the neighbour was waited for.
  package mutating func met(_ slot: Int) -> Bool {
    knowing.insert(slot)
    guard waiting.contains(slot) else { return false }
    waiting.remove(slot)
    setDeadline()
    return true
  }

  package mutating func lost(_ slot: Int) {
    waiting.remove(slot)
    behind.remove(slot)
    earlier[slot & 63] = []
    setDeadline()
  }

  package mutating func forget(_ slot: Int) {
    lost(slot)
    knowing.remove(slot)
  }

  /// - Returns: those that were waited for long enough.
  package mutating func overdue(now: MonotonicTime) -> LinkSet {
    guard let deadline, deadline <= now else { return .none }
    var late = LinkSet.none
    var rest = waiting
    while let slot = rest.popFirst() { if waitUntil[slot] <= now { late.insert(slot) } }
    waiting = waiting.subtracting(late)
    setDeadline()
    return late
  }

  package mutating func announce(_ keys: [UInt64], to slot: Int) {
    guard !keys.isEmpty else { return }
    earlier[slot & 63] = keys.reversed()
    behind.insert(slot)
  }

  /// The next keys that are to be announced to a neighbour, oldest first.
  package mutating func takeEarlier(_ slot: Int) -> [UInt64] {
    let keys = Array(earlier[slot & 63].suffix(RoutingLimits.announcedBacklog).reversed())
    earlier[slot & 63].removeLast(keys.count)
    if earlier[slot & 63].isEmpty { behind.remove(slot) }
    return keys
  }

  private mutating func setDeadline() {
    deadline = nil
    var rest = waiting
    while let slot = rest.popFirst() { deadline = deadline.map { min($0, waitUntil[slot]) } ?? waitUntil[slot] }
  }
}
