internal import Streams

/// Estimates how long an answer takes, and so when it is overdue (RFC 6298, section 2).
struct RoundTripEstimator: Sendable {
  private(set) var smoothed: Duration?
  private var variation: Duration = .zero
  /// Doublings that stand for everything that is sent, until something is measured again (RFC 6298, 5.5 to 5.7): where an
  /// answer takes longer than the time that is set, nothing is ever sent only once, and nothing could be measured.
  private var backoff = 0
  private var backedOffAt = MonotonicTime.start

  /// A measurement; the caller leaves out packets that were sent twice (Karn's algorithm).
  mutating func measure(_ sample: Duration) {
    backoff = 0
    guard let smoothed else {
      self.smoothed = sample
      variation = sample / 2
      return
    }
    let difference = sample > smoothed ? sample - smoothed : smoothed - sample
    variation = (variation * 3 + difference) / 4
    self.smoothed = (smoothed * 7 + sample) / 8
  }

  /// A packet that was sent once, at this time, is overdue. Those of one round count as one.
  mutating func timedOut(sentAt: MonotonicTime, now: MonotonicTime) {
    guard sentAt >= backedOffAt else { return }
    backoff = min(backoff + 1, 5)
    backedOffAt = now
  }

  /// How long the answer to a packet sent for the `attempt`-th time (from 1) may take once nothing is ahead of it.
  func timeout(attempt: Int) -> Duration {
    let base = smoothed.map { $0 + max(.milliseconds(10), variation * 4) } ?? LinksLimits.firstRetransmission
    let bounded = min(max(base, LinksLimits.shortestRetransmission), LinksLimits.longestRetransmission)
    return min(bounded * (1 << min(attempt - 1 + backoff, 5)), LinksLimits.longestRetransmission)
  }
}
