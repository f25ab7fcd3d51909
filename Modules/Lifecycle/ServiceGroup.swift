/// How a program ended.
package enum StopOutcome: Sendable {
  /// Every service returned by itself.
  case finished
  /// A stop was requested and every service ended within the grace.
  case stopped
  /// A service threw; the others were cancelled.
  case failed(any Error)
  /// A second request cancelled the services.
  case interrupted
  /// The grace ran out and the services were cancelled.
  case deadlinePassed

  package var exitCode: Int32 {
    switch self {
    case .finished, .stopped: 0
    case .failed, .interrupted, .deadlinePassed: 1
    }
  }
}

/// Runs services side by side and carries out the two-stage stop.
///
/// SIGTERM and SIGINT request a stop, SIGHUP calls `reload`. After the first request the services have
/// `graceOfStop` to return; then, or at the second request, they are cancelled; and services that do not even react to
/// that within `graceOfCancellation` end in `giveUp`, which leaves the process.
package struct ServiceGroup: Sendable {
  private let services: [any Service]
  private let stop: Stop
  private let signals: AsyncStream<UnixSignal>
  private let clock: any Clock<Duration>
  private let reload: @Sendable () async -> Void
  private let giveUp: @Sendable (Int32) -> Void

  /// - Parameters:
  ///   - signals: from `UnixSignals`, or from a test.
  ///   - giveUp: called with the exit code when a service ignores its cancellation; a program passes `_exit`.
  package init(
    _ services: [any Service], stop: Stop, signals: AsyncStream<UnixSignal>, clock: any Clock<Duration>,
    reload: @escaping @Sendable () async -> Void = {}, giveUp: @escaping @Sendable (Int32) -> Void
  ) {
    self.services = services
    self.stop = stop
    self.signals = signals
    self.clock = clock
    self.reload = reload
    self.giveUp = giveUp
  }

  private enum Event: Sendable {
    case ended((any Error)?)
    case graceOver
    case interrupted
    case cancellationIgnored
    case nothing
  }

  /// Returns when every service has ended.
  package func run() async -> StopOutcome {
    let cancellation = Stop()
    return await withTaskGroup(of: Event.self) { group in
      group.addTask { await runServices(until: cancellation) }
      group.addTask { await watchSignals() }
      group.addTask { await stop.reached(.immediate) ? .interrupted : .nothing }
      group.addTask {
        guard await stop.reached(.graceful) else { return .nothing }
        return await sleep(LifecycleLimits.graceOfStop) ? .graceOver : .nothing
      }

      var outcome: StopOutcome?
      for await event in group {
        switch event {
        case .nothing: continue
        case .ended(let error):
          group.cancelAll()
          if let outcome { return outcome }
          if let error { return .failed(error) }
          return stop.stage == .running ? .finished : .stopped
        case .graceOver, .interrupted:
          guard outcome == nil else { continue }
          if case .graceOver = event { outcome = .deadlinePassed } else { outcome = .interrupted }
          cancellation.request(.immediate)
          group.addTask { await sleep(LifecycleLimits.graceOfCancellation) ? .cancellationIgnored : .nothing }
        case .cancellationIgnored:
          giveUp(StopOutcome.deadlinePassed.exitCode)
        }
      }
      return outcome ?? .finished
    }
  }

  /// Ends when all services have; the first that throws, and `cancellation`, cancel the others.
  private func runServices(until cancellation: Stop) async -> Event {
    await withTaskGroup(of: (isService: Bool, error: (any Error)?).self) { group in
      for service in services {
        group.addTask {
          do {
            try await service.run()
            return (true, nil)
          } catch {
            return (true, error)
          }
        }
      }
      group.addTask {
        _ = await cancellation.reached(.immediate)
        return (false, nil)
      }

      var running = services.count
      var failure: (any Error)?
      while running > 0, let ended = await group.next() {
        if ended.isService { running -= 1 }
        if failure == nil, let error = ended.error { failure = error }
        if !ended.isService || ended.error != nil { group.cancelAll() }
      }
      group.cancelAll()
      return .ended(failure)
    }
  }

  private func watchSignals() async -> Event {
    for await signal in signals {
      switch signal {
      case .terminate, .interrupt: stop.request()
      case .hangUp: await reload()
      }
    }
    return .nothing
  }

  private func sleep(_ duration: Duration) async -> Bool { (try? await clock.sleep(for: duration)) != nil }
}
