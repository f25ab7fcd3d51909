internal import Lifecycle
package import Streams

extension TimeSource {
  /// The clocks of the machine: time since boot with sleep, and the time of day.
  package static let system = TimeSource(
    now: { MonotonicTime.start.advanced(by: SystemTime.sinceBoot()) },
    wallMilliseconds: {
      let (seconds, attoseconds) = SystemTime.sinceEpoch().components
      return UInt64(max(0, seconds)) * 1_000 + UInt64(max(0, attoseconds / 1_000_000_000_000_000))
    },
    sleep: { deadline in
      let now = MonotonicTime.start.advanced(by: SystemTime.sinceBoot())
      if now < deadline { try await Task.sleep(for: deadline.since(now)) }
    })
}
