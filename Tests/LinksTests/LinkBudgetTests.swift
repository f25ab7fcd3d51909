import Streams
import Testing

@testable import Links

@Suite struct LinkBudgetTests {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)

  @Test func honestNeighbourNeverRunsOut() {
    var budget = LinkBudget(bytesPerSecond: 15_000, now: start)
    for frame in 0..<10_000 {
      let now = start.advanced(by: .milliseconds(frame * 1_000 * 244 / 15_000))
      let isPaid = budget.pay(byteCount: 244, now: now)
      #expect(isPaid, "frame \(frame)")
    }
  }

  @Test func floodIsCutToTwiceTheRate() {
    var budget = LinkBudget(bytesPerSecond: 15_000, now: start)
    var taken = 0
    for millisecond in 0..<60_000 {
      for _ in 0..<10 where budget.pay(byteCount: 244, now: start.advanced(by: .milliseconds(millisecond))) {
        taken += 244
      }
    }
    #expect(taken <= 30_000 * 64 && taken >= 30_000 * 59)
  }

  @Test func manySmallFramesCostTheirShare() {
    var budget = LinkBudget(bytesPerSecond: 15_000, now: start)
    var taken = 0
    for _ in 0..<1_000_000 where budget.pay(byteCount: 1, now: start) { taken += 1 }
    #expect(taken == Int(30_000.0 / Double(LinksLimits.smallestPaidFrame) * LinksLimits.budgetBurstSeconds))
  }

  @Test func clockThatStandsStillRefillsNothing() {
    var budget = LinkBudget(bytesPerSecond: 0, now: start)
    while budget.pay(byteCount: 100, now: start) {}
    let before = budget.pay(byteCount: 100, now: .start)
    let after = budget.pay(byteCount: 100, now: start.advanced(by: .seconds(1)))
    #expect(!before && after)
  }
}
