internal import Streams

/// Estimates how long an answer takes, and so when it is overdue (RFC 6298, section 2).
struct RoundTripEstimator: Sendable {
  private(set) var smoothed: Duration?
  private var variation: Duration = .zero

  /// A measurement; the caller leaves out packets that were sent twice (Karn's algorithm).
  mutating func measure(_ sample: Duration) {
    guard let smoothed else {
      self.smoothed = sample
      variation = sample / 2
      return
    }
    let difference = sample > smoothed ? sample - smoothed : smoothed - sample
    variation = (variation * 3 + difference) / 4
    self.smoothed = (smoothed * 7 + sample) / 8
  }

  /// When the answer to a packet sent for the `attempt`-th time (from 1) is overdue.
  func timeout(attempt: Int) -> Duration {
    let base = smoothed.map { $0 + max(.milliseconds(10), variation * 4) } ?? LinksLimits.firstRetransmission
    let bounded = min(max(base, LinksLimits.shortestRetransmission), LinksLimits.longestRetransmission)
    return min(bounded * (1 << min(attempt - 1, 5)), LinksLimits.longestRetransmission)
  }
}
