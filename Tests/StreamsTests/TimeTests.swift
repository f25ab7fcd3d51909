import Streams
import TestKit
import Testing

@Suite struct MonotonicTimeTests {
  @Test func timeStopsAtBothEnds() {
    let late = MonotonicTime(nanoseconds: .max - 5)
    #expect(late.advanced(by: .nanoseconds(5)) == .never)
    #expect(late.advanced(by: .nanoseconds(4)).nanoseconds == UInt64.max - 1)
    #expect(late.advanced(by: .nanoseconds(6)) == .never)
    #expect(MonotonicTime(nanoseconds: 5).advanced(by: .nanoseconds(-5)) == .start)
    #expect(MonotonicTime(nanoseconds: 5).advanced(by: .nanoseconds(-6)) == .start)
    #expect(MonotonicTime(nanoseconds: 5).advanced(by: .nanoseconds(-4)).nanoseconds == 1)
    for huge in [Duration.seconds(Int64.max), .seconds(9_223_372_036), .seconds(9_223_372_037)] {
      #expect(late.advanced(by: huge) == .never)
      #expect(MonotonicTime(nanoseconds: 5).advanced(by: .zero - huge) == .start)
    }
    #expect(MonotonicTime(nanoseconds: 7).advanced(by: .seconds(Int64.min)) == .start)
  }

  @Test func aDifferenceIsNeverNegative() {
    let (early, late) = (MonotonicTime(nanoseconds: 1_000_000), MonotonicTime(nanoseconds: 2_999_999))
    #expect(late.since(early) == .nanoseconds(1_999_999) && early.since(late) == .zero)
    #expect(late.milliseconds(since: early) == 1 && early.milliseconds(since: late) == 0)
    #expect(MonotonicTime.never.since(.start) == .nanoseconds(Int64.max))
    #expect(MonotonicTime.never.milliseconds(since: .start) == UInt64.max / 1_000_000)
  }
}

@Suite struct AlarmTests {
  /// Runs an alarm in virtual time and notes when it rings.
  func rings(for duration: Duration, _ prepare: @escaping @Sendable (Alarm, ManualTime, Int) -> Void) -> [Int] {
    let simulation = Simulation()
    let start = simulation.time.now
    let alarm = Alarm(time: simulation.time.source)
    let times = Rings()
    prepare(alarm, simulation.time, 0)
    let task = simulation.start {
      await alarm.run {
        let count = times.add(Int(simulation.time.now.milliseconds(since: start)))
        prepare(alarm, simulation.time, count)
      }
    }
    _ = simulation.run(for: duration)
    task.cancel()
    simulation.executor.runUntilIdle()
    return times.all
  }

  final class Rings: Sendable {
    private let list = Protected<[Int]>([])

    func add(_ time: Int) -> Int {
      list.withLock { list in
        list.append(time)
        return list.count
      }
    }

    var all: [Int] { list.withLock { $0 } }
  }

  @Test func itRingsAtTheEarliestTimeThatWasSet() {
    let rung = rings(for: .seconds(10)) { alarm, time, ring in
      guard ring == 0 else { return }
      alarm.set(time.now.advanced(by: .seconds(5)))
      alarm.set(time.now.advanced(by: .seconds(2)))
      alarm.set(time.now.advanced(by: .seconds(3)))
      alarm.set(nil)
      alarm.set(.never)
    }
    #expect(rung == [2_000])
  }

  @Test func itRingsAgainWhenItIsSetAgain() {
    let rung = rings(for: .milliseconds(100)) { alarm, time, ring in
      if ring < 4 { alarm.set(time.now.advanced(by: .milliseconds(10))) }
    }
    #expect(rung == [10, 20, 30, 40])
  }

  @Test func aTimeThatIsPastRingsAtOnce() {
    let rung = rings(for: .seconds(1)) { alarm, _, ring in if ring == 0 { alarm.set(.start) } }
    #expect(rung == [0])
  }

  @Test func anEarlierTimeIsHeardWhileItSleeps() {
    let simulation = Simulation()
    let start = simulation.time.now
    let alarm = Alarm(time: simulation.time.source)
    let times = Rings()
    let task = simulation.start {
      await alarm.run { _ = times.add(Int(simulation.time.now.milliseconds(since: start))) }
    }
    alarm.set(start.advanced(by: .seconds(60)))
    _ = simulation.run(for: .seconds(1))
    alarm.set(start.advanced(by: .seconds(2)))
    _ = simulation.run(for: .seconds(100))
    task.cancel()
    simulation.executor.runUntilIdle()
    // The later time was overwritten by the earlier one: its owner sets it anew.
    #expect(times.all == [2_000])
  }
}
