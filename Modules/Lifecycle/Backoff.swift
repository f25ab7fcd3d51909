/// How long to wait before the next attempt: `base · factor^n`, at most `cap`, moved up or down by a random share so
/// that many who failed together do not come back together.
package struct Backoff: Sendable, Equatable {
  package let base: Duration
  package let factor: Double
  package let cap: Duration
  /// 0 none … 1: a delay lies anywhere between nothing and twice its value.
  package let jitter: Double
  /// Failures since the start or the last `reset`.
  package private(set) var failures = 0

  package init(
    base: Duration = .milliseconds(500), factor: Double = 2, cap: Duration = .seconds(60), jitter: Double = 0.25
  ) {
    self.base = max(base, .zero)
    self.factor = max(1, factor)
    self.cap = max(base, cap)
    self.jitter = min(max(0, jitter), 1)
  }

  /// Counts a failure; `random` are 64 uniform bits. The result is at most `cap`.
  package mutating func next(random: UInt64) -> Duration {
    var delay = base
    for _ in 0..<failures {
      delay = min(delay * factor, cap)
      if delay >= cap { break }
    }
    failures += failures < Int.max ? 1 : 0
    let unit = Double(random >> 11) / Double(1 << 53)
    return min(max(.zero, delay * (1 - jitter + 2 * jitter * unit)), cap)
  }

  /// Counts a failure; draws 64 bits.
  package mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
    next(random: generator.next())
  }

  /// The next delay is `base` again.
  package mutating func reset() { failures = 0 }
}
