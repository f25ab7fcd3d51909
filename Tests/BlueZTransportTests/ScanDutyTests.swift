import Streams
import Testing

@testable import BlueZTransport

@Suite struct ScanDutyTests {
  private let start = MonotonicTime(nanoseconds: 5_000_000_000)

  /// Share of an hour spent on listening, followed from deadline to deadline.
  private func measured(_ duty: ScanDuty, from begin: MonotonicTime) -> Double {
    let end = begin.advanced(by: .seconds(3_600))
    var now = begin
    var listening = 0.0
    while now < end {
      let next = min(end, duty.deadline(now: now) ?? end)
      #expect(next > now, "a deadline lies ahead")
      guard next > now else { break }
      if duty.isListening(now: now) { listening += Double(next.milliseconds(since: now)) }
      now = next
    }
    return listening / 3_600_000
  }

  @Test func lonelyNodeListensAllTheTime() {
    let duty = ScanDuty(now: start)
    #expect(measured(duty, from: start) == 1 && duty.deadline(now: start) == nil)
  }

  @Test func nodeWithRoomListensAThirdAndAFullOneATwentieth() {
    var duty = ScanDuty(now: start)
    duty.observe(links: 1, isFull: false, now: start)
    #expect(duty.isListening(now: start.advanced(by: BlueZLimits.scanAfterChange - .milliseconds(1))))
    let calm = start.advanced(by: BlueZLimits.scanAfterChange)
    #expect(abs(measured(duty, from: calm) - 1.0 / 3) < 0.01)
    duty.observe(links: 5, isFull: true, now: calm)
    #expect(abs(measured(duty, from: calm) - 0.05) < 0.01)
  }

  @Test func lastLinkThatGoesMakesItListenAtOnce() {
    var duty = ScanDuty(now: start)
    duty.observe(links: 5, isFull: true, now: start)
    let later = start.advanced(by: .seconds(60))
    #expect(!duty.isListening(now: later))
    duty.observe(links: 0, isFull: false, now: later)
    #expect(duty.isListening(now: later) && measured(duty, from: later) == 1)
  }

  @Test func sameFactsChangeNothing() {
    var duty = ScanDuty(now: start)
    duty.observe(links: 2, isFull: false, now: start)
    let later = start.advanced(by: BlueZLimits.scanAfterChange + .seconds(15))
    let before = duty.deadline(now: later)
    duty.observe(links: 2, isFull: false, now: later)
    #expect(duty.deadline(now: later) == before)
  }
}
