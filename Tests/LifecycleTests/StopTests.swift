import Synchronization
import Testing

@testable import Lifecycle

@Suite(.timeLimit(.minutes(1))) struct StopTests {
  @Test func requestsClimbTheStages() {
    let stop = Stop()
    #expect(stop.stage == .running)
    stop.request()
    #expect(stop.stage == .graceful)
    stop.request(.graceful)
    #expect(stop.stage == .graceful)
    stop.request()
    stop.request()
    #expect(stop.stage == .immediate)
  }

  @Test func waiterIsToldOnceAndCancelledWaiterToo() async {
    let stop = Stop()
    async let first = stop.reached(.graceful)
    async let second = stop.reached(.immediate)
    let cancelled = await withTaskGroup(of: Bool.self) { group in
      group.addTask { await stop.reached(.immediate) }
      group.cancelAll()
      return await group.next()
    }
    #expect(cancelled == false)
    stop.request()
    #expect(await first)
    stop.request()
    #expect(await second)
    #expect(await stop.reached(.graceful))
  }
}

@Suite(.timeLimit(.minutes(1))) struct ServiceGroupTests {
  struct Broken: Error {}

  private let clock = ManualClock()
  private let stop = Stop()
  private let signals = AsyncStream.makeStream(of: UnixSignal.self)

  private func group(_ services: [any Service], giveUp: @escaping @Sendable (Int32) -> Void = { _ in }) -> ServiceGroup
  {
    ServiceGroup(services, stop: stop, signals: signals.stream, clock: clock, giveUp: giveUp)
  }

  /// Runs until the group has cancelled it.
  private let stubborn = ClosureService { _ = await Stop().reached(.graceful) }

  @Test func endsWhenAllServicesHave() async {
    let outcome = await group([ClosureService {}, ClosureService {}]).run()
    guard case .finished = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(outcome.exitCode == 0)
  }

  @Test func failureCancelsTheOthers() async {
    let outcome = await group([ClosureService { throw Broken() }, stubborn]).run()
    guard case .failed(let error) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(error is Broken)
    #expect(outcome.exitCode == 1)
  }

  @Test func firstSignalStopsGracefully() async {
    let service = ClosureService { [stop] in _ = await stop.reached(.graceful) }
    signals.continuation.yield(.terminate)
    let outcome = await group([service]).run()
    guard case .stopped = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(outcome.exitCode == 0)
  }

  @Test func secondSignalCancelsAtOnce() async {
    signals.continuation.yield(.interrupt)
    signals.continuation.yield(.terminate)
    let outcome = await group([stubborn]).run()
    guard case .interrupted = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(outcome.exitCode == 1)
  }

  @Test func graceRunsOutAfterFiveSeconds() async {
    signals.continuation.yield(.terminate)
    async let running = group([stubborn]).run()
    await clock.someoneSleeps()
    clock.advance(by: .milliseconds(4_999))
    #expect(stop.stage == .graceful)
    clock.advance(by: .milliseconds(1))
    let outcome = await running
    guard case .deadlinePassed = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(outcome.exitCode == 1)
  }

  @Test func serviceThatIgnoresCancellationIsGivenUp() async {
    let gate = Gate()
    let code = Mutex<Int32?>(nil)
    stop.request(.immediate)
    let group = ServiceGroup(
      [ClosureService { await gate.passed() }], stop: stop, signals: signals.stream, clock: ImpatientClock(),
      giveUp: {
        code.withLock { [exit = $0] in $0 = exit }
        gate.open()
      })
    _ = await group.run()
    #expect(code.withLock { $0 } == 1)
  }

  @Test func hangUpReloads() async {
    let (reloads, told) = AsyncStream.makeStream(of: Void.self)
    let running = ServiceGroup(
      [ClosureService { [stop] in _ = await stop.reached(.graceful) }], stop: stop, signals: signals.stream,
      clock: clock,
      reload: { told.yield() }, giveUp: { _ in })
    signals.continuation.yield(.hangUp)
    async let outcome = running.run()
    for await _ in reloads { break }
    stop.request()
    _ = await outcome
  }
}
