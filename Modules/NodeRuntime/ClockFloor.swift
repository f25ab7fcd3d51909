package import Streams

/// Keeps the time of day from running backwards over restarts.
///
/// A machine without a battery for its clock starts where its last shutdown, or 1970, was. What this node has signed and
/// kept by then must not come to lie in its future, so until something keeps the clock right (`isSynchronised`) the time
/// is at least the persisted floor plus what has passed since the start. A clock that is known to be right is believed
/// as it is, also below the floor: one start in 2099 does no lasting harm. Nobody's clock is ever set from a peer's.
/// Pure.
package struct ClockFloor: Sendable, Equatable {
  /// Milliseconds since 1970 that our time had reached before the start.
  package let floor: UInt64
  private let startedAt: MonotonicTime

  package init(floor: UInt64, startedAt: MonotonicTime) {
    self.floor = floor
    self.startedAt = startedAt
  }

  /// Our time of day in milliseconds since 1970.
  package func wallMilliseconds(system: UInt64, now: MonotonicTime, isSynchronised: Bool) -> UInt64 {
    if isSynchronised { return system }
    let (least, isOver) = floor.addingReportingOverflow(now.milliseconds(since: startedAt))
    return isOver ? system : max(system, least)
  }
}
