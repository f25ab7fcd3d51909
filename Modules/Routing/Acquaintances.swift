package import Streams

/// Which neighbours have shown that they know trees and comparisons.
///
/// A neighbour that comes is waited for: when it has said nothing of the kind within `RoutingLimits.acquaintance`, it gets
/// what it misses whole.
package struct Acquaintances: Sendable {
  private var waitUntil = [MonotonicTime](repeating: .never, count: 64)
  private var waiting = LinkSet.none
  /// Neighbours that know trees, by slot; also while they are away.
  package private(set) var knowing = LinkSet.none
  package private(set) var deadline: MonotonicTime?

  package init() {}

  package mutating func wait(for slot: Int, now: MonotonicTime) {
    waiting.insert(slot)
    waitUntil[slot & 63] = now.advanced(by: RoutingLimits.acquaintance)
    setDeadline()
  }

  package mutating func met(_ slot: Int) {
    knowing.insert(slot)
    guard waiting.contains(slot) else { return }
    waiting.remove(slot)
    setDeadline()
  }

  package mutating func lost(_ slot: Int) {
    waiting.remove(slot)
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

  private mutating func setDeadline() {
    deadline = nil
    var rest = waiting
    while let slot = rest.popFirst() { deadline = deadline.map { min($0, waitUntil[slot]) } ?? waitUntil[slot] }
  }
}
