internal import Streams

/// Notices when the time of day is set, by comparing it with the clock that never jumps. Pure.
struct ClockSteps: Sendable {
  private var last: (wall: UInt64, now: MonotonicTime)?

  /// - Returns: what the time of day would be had it not been set, when that is off by more than
  ///   `SessionsLimits.clockTolerance`.
  mutating func step(wall: UInt64, now: MonotonicTime) -> UInt64? {
    defer { last = (wall, now) }
    guard let last else { return nil }
    let expected = last.wall.addingReportingOverflow(now.milliseconds(since: last.now)).partialValue
    let difference = wall > expected ? wall - expected : expected - wall
    return difference > SessionsLimits.clockTolerance ? expected : nil
  }
}
