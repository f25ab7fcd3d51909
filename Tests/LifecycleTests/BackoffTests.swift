import Testing

@testable import Lifecycle

@Suite struct BackoffTests {
  @Test func delaysGrowUpToTheCap() {
    var backoff = Backoff(base: .seconds(1), factor: 2, cap: .seconds(10), jitter: 0)
    let delays = (0..<6).map { _ in backoff.next(random: 7) }
    #expect(delays == [1, 2, 4, 8, 10, 10].map { .seconds($0) })
    backoff.reset()
    #expect(backoff.next(random: 7) == .seconds(1))
  }

  @Test func jitterStaysWithinItsShareAndTheCap() {
    var generator = SystemRandomNumberGenerator()
    for failures in 0..<20 {
      var backoff = Backoff(base: .seconds(1), factor: 3, cap: .seconds(100), jitter: 0.5)
      for _ in 0..<failures { _ = backoff.next(using: &generator) }
      let delay = backoff.next(using: &generator)
      #expect(delay >= .milliseconds(500) && delay <= .seconds(100))
    }
  }

  @Test(arguments: [0, UInt64.max]) func extremesOfRandomnessAreHarmless(random: UInt64) {
    var backoff = Backoff(base: .zero, factor: 0, cap: .seconds(-1), jitter: 9)
    for _ in 0..<1_000 { #expect(backoff.next(random: random) == .zero) }
  }
}
