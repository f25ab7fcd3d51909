/// A point on a clock that never jumps, in nanoseconds since a start that only the clock knows.
public struct MonotonicTime: Sendable, Hashable, Comparable {
  public var nanoseconds: UInt64

  public init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// Before every time a clock can show.
  public static let start = MonotonicTime(nanoseconds: 0)
  /// After every time a clock can show.
  public static let never = MonotonicTime(nanoseconds: .max)

  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Saturates at both ends.
  public func advanced(by duration: Duration) -> MonotonicTime {
    let (seconds, attoseconds) = duration.components
    let (whole, isLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isLarge else { return seconds > 0 ? .never : .start }
    let (offset, isLarger) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    guard !isLarger else { return seconds > 0 ? .never : .start }
    if offset < 0 {
      let back = offset.magnitude
      return back > nanoseconds ? .start : MonotonicTime(nanoseconds: nanoseconds - back)
    }
    let (sum, isOver) = nanoseconds.addingReportingOverflow(UInt64(offset))
    return isOver ? .never : MonotonicTime(nanoseconds: sum)
  }

  /// The time from `earlier` to this; zero when `earlier` is the later one.
  public func since(_ earlier: MonotonicTime) -> Duration {
    guard nanoseconds > earlier.nanoseconds else { return .zero }
    return .nanoseconds(Int64(clamping: nanoseconds - earlier.nanoseconds))
  }

  /// Whole milliseconds from `earlier` to this; zero when `earlier` is the later one.
  public func milliseconds(since earlier: MonotonicTime) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? (nanoseconds - earlier.nanoseconds) / 1_000_000 : 0
  }
}

/// Where a part of the node gets the time and how it waits: handed in, so that tests and the simulator bring their own.
public struct TimeSource: Sendable {
  /// The time on the clock that never jumps.
  public var now: @Sendable () -> MonotonicTime
  /// The time of day in milliseconds since 1970, as far as this machine knows it; it may jump.
  public var wallMilliseconds: @Sendable () -> UInt64
  /// Returns at or after the given time; throws `CancellationError` when the task is cancelled.
  public var sleep: @Sendable (_ until: MonotonicTime) async throws -> Void

  public init(
    now: @escaping @Sendable () -> MonotonicTime,
    wallMilliseconds: @escaping @Sendable () -> UInt64,
    sleep: @escaping @Sendable (_ until: MonotonicTime) async throws -> Void
  ) {
    self.now = now
    self.wallMilliseconds = wallMilliseconds
    self.sleep = sleep
  }
}
