package import Streams

extension TimeSource {
  /// The clock of the machine from now on, so many times as fast, for what speaks to a real bus. It knows no time of day.
  package static func running(speed: Double = 1) -> TimeSource {
    let clock = ContinuousClock()
    let start = clock.now
    return TimeSource(
      now: { MonotonicTime.start.advanced(by: start.duration(to: clock.now) * speed) }, wallMilliseconds: { 0 },
      sleep: { try await clock.sleep(until: start.advanced(by: $0.since(.start) / speed)) })
  }
}
