/// What a supervisor did.
package enum SupervisorEvent: Sendable {
  case started(attempt: Int)
  case finished
  /// The service threw after it had run for `uptime`; it is started again after `delay`.
  case restarting(error: any Error, uptime: Duration, delay: Duration)
  /// The service threw an error that another attempt cannot mend.
  case gaveUp(error: any Error)
}

/// Runs a service and starts it again when it throws, with growing delays.
///
/// `run` returns when the service returns or the task is cancelled, and throws what `isPermanent` says cannot be
/// mended. A service that ran for `stableAfter` starts again with the shortest delay.
package struct Supervisor: Service {
  private let service: any Service
  private let backoff: Backoff
  private let stableAfter: Duration
  private let clock: any Clock<Duration>
  private let random: @Sendable () -> UInt64
  private let isPermanent: @Sendable (any Error) -> Bool
  private let report: @Sendable (SupervisorEvent) -> Void

  /// - Parameters:
  ///   - random: 64 uniform bits for the jitter.
  ///   - report: called for each event, from the task that runs the supervisor.
  package init(
    _ service: any Service, backoff: Backoff = Backoff(), stableAfter: Duration = .seconds(30),
    clock: any Clock<Duration>, random: @escaping @Sendable () -> UInt64,
    isPermanent: @escaping @Sendable (any Error) -> Bool = { _ in false },
    report: @escaping @Sendable (SupervisorEvent) -> Void = { _ in }
  ) {
    self.service = service
    self.backoff = backoff
    self.stableAfter = stableAfter
    self.clock = clock
    self.random = random
    self.isPermanent = isPermanent
    self.report = report
  }

  package func run() async throws { try await run(on: clock) }

  private func run(on clock: some Clock<Duration>) async throws {
    var backoff = backoff
    var attempt = 1
    while !Task.isCancelled {
      let start = clock.now
      do {
        report(.started(attempt: attempt))
        try await service.run()
        report(.finished)
        return
      } catch {
        if Task.isCancelled { return }
        if isPermanent(error) {
          report(.gaveUp(error: error))
          throw error
        }
        let uptime = start.duration(to: clock.now)
        if uptime >= stableAfter { backoff.reset() }
        let delay = backoff.next(random: random())
        report(.restarting(error: error, uptime: uptime, delay: delay))
        guard (try? await clock.sleep(for: delay)) != nil else { return }
        attempt += 1
      }
    }
  }
}
