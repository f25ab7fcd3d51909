internal import ControlServer
internal import Lifecycle
internal import Links
internal import Streams
internal import Telemetry
internal import Transports

/// Everything of a daemon that runs, as one service: ends when a stop is requested, says goodbye to its neighbours, and
/// takes a part that failed down only where the node cannot do without it.
///
/// A transport that fails is started again with back-off and the node goes on with the others; one that says that it
/// can never be used ends the daemon, because whoever started it must know.
struct NodeParts: Service {
  struct RunningTransport: Sendable {
    var transport: any Transport
    var jitter: Jitter
    var memory: TransportMemory
  }

  let node: Node
  let transports: [RunningTransport]
  let server: ControlSocketServer
  let bridge: EventBridge
  let clock: FlooredClock
  let keeper: StoreKeeper
  let history: HistoryKeeper
  let record: RecordKeeper
  let stop: Stop
  let ready: ReadinessNotification
  let log: Log

  func run() async throws {
    do {
      try await runParts()
    } catch is CancellationError {
      // Asked to stop: every part has ended.
    }
  }

  /// The first part that throws takes the others with it.
  private func runParts() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for running in transports { group.addTask { try await self.supervise(running) } }
      group.addTask { await self.node.run() }
      group.addTask { await self.bridge.run() }
      group.addTask { await self.clock.run() }
      group.addTask { await self.keeper.run() }
      group.addTask { await self.history.run() }
      group.addTask { await self.record.run() }
      group.addTask { try await self.server.run() }
      group.addTask {
        _ = await self.stop.reached(.graceful)
        self.ready.send(.stopping)
        await self.node.links.sayGoodbye()
        throw CancellationError()
      }
      ready.send(.ready, .status("running"))
    }
  }

  private func supervise(_ running: RunningTransport) async throws {
    let name = running.transport.properties.name
    let log = log
    let supervisor = Supervisor(
      ClosureService { try await running.transport.run() }, clock: ContinuousClock.continuous,
      random: { running.jitter.next() }, isPermanent: { $0 is TransportUnusableError },
      report: { event in
        if case .restarting(let error, _, let delay) = event {
          log.error(
            "transport failed and is started again",
            ["transport": .text(name), "reason": .description(error), "after": .duration(delay)])
        }
      })
    do { try await supervisor.run() } catch let error as TransportUnusableError {
      throw DaemonError.transportUnusable(name, reason: error.reason)
    }
  }
}
