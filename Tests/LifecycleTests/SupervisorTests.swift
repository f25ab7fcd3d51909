import Synchronization
import Testing

@testable import Lifecycle

@Suite(.timeLimit(.minutes(1))) struct SupervisorTests {
  struct Broken: Error {}

  @Test func failedServiceIsStartedAgainAfterTheDelay() async throws {
    let clock = ManualClock()
    let runs = Mutex(0)
    let events = Mutex<[String]>([])
    let service = ClosureService {
      let run = runs.withLock { runs in
        runs += 1
        return runs
      }
      if run < 3 { throw Broken() }
    }
    let supervisor = Supervisor(
      service, backoff: Backoff(base: .seconds(1), jitter: 0), clock: clock, random: { 0 },
      report: { event in
        events.withLock { events in
          switch event {
          case .started(let attempt): events.append("start \(attempt)")
          case .restarting(_, _, let delay): events.append("wait \(delay)")
          case .finished: events.append("finished")
          case .gaveUp: events.append("gave up")
          }
        }
      })
    async let done: Void = supervisor.run()
    await clock.someoneSleeps()
    clock.advance(by: .seconds(1))
    await clock.someoneSleeps()
    clock.advance(by: .seconds(2))
    try await done
    #expect(
      events.withLock { $0 } == [
        "start 1", "wait 1.0 seconds", "start 2", "wait 2.0 seconds", "start 3", "finished",
      ])
  }

  @Test func stableRunResetsTheDelay() async throws {
    let clock = ManualClock()
    let delays = Mutex<[Duration]>([])
    let service = ClosureService {
      clock.advance(by: .seconds(60))
      throw Broken()
    }
    let supervisor = Supervisor(
      service, backoff: Backoff(base: .seconds(1), jitter: 0), clock: clock, random: { 0 },
      report: { if case .restarting(_, _, let delay) = $0 { delays.withLock { $0.append(delay) } } })
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await supervisor.run() }
      for _ in 0..<3 {
        await clock.someoneSleeps()
        clock.advance(by: .seconds(1))
      }
      await clock.someoneSleeps()
      group.cancelAll()
    }
    #expect(delays.withLock { $0 } == Array(repeating: .seconds(1), count: 4))
  }

  @Test func permanentErrorLeavesAtOnce() async {
    let supervisor = Supervisor(
      ClosureService { throw Broken() }, clock: ManualClock(), random: { 0 }, isPermanent: { $0 is Broken })
    await #expect(throws: Broken.self) { try await supervisor.run() }
  }
}
