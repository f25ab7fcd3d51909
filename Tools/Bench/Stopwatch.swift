import Glibc

/// Time on the clock of the machine, in nanoseconds.
enum Stopwatch {
  static func now() -> UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The best of several rounds, in nanoseconds per operation: what the machine can do when nobody disturbs it.
  static func best(rounds: Int = 9, operations: Int, _ body: () -> Void) -> Double {
    var best = UInt64.max
    for _ in 0..<rounds {
      let start = now()
      body()
      best = min(best, now() - start)
    }
    return Double(best) / Double(operations)
  }

  /// Keeps a result alive, so that the work is not optimised away.
  @inline(never)
  static func keep<Value>(_ value: borrowing Value) {}
}

/// A sample of durations in nanoseconds.
struct Sample {
  var values: [UInt64] = []

  /// The value below which this share of the sample lies, in microseconds.
  func quantile(_ share: Double) -> Double {
    guard !values.isEmpty else { return 0 }
    let sorted = values.sorted()
    return Double(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]) / 1_000
  }
}
