internal import Lifecycle
internal import Storing
internal import Streams
internal import Telemetry

/// The clocks that a daemon hands to its node, with the floor of the earlier runs under the time of day; as a service it
/// keeps the floor of this run.
struct FlooredClock: Service {
  let time: TimeSource
  private let plain: any KeyValueStore
  private let log: Log

  /// - Parameters:
  ///   - system: the clocks of the machine.
  ///   - isSynchronised: whether something keeps the time of day right.
  static func load(
    from plain: any KeyValueStore, system: TimeSource, isSynchronised: @escaping @Sendable () -> Bool, log: Log
  ) async throws(StoreError) -> FlooredClock {
    let kept: UInt64
    do { kept = try await NodeValues.kept.clockFloor.value(in: plain) } catch {
      switch error {
      case .store(let error): throw error
      case .unreadable(_, let byteCount):
        // A floor is a help for a clock that is wrong, and the clock of this machine may be right.
        log.error("the time that was kept cannot be read", ["bytes": .integer(byteCount)])
        kept = 0
      }
    }
    let floor = ClockFloor(floor: kept, startedAt: system.now())
    let time = TimeSource(
      now: system.now,
      wallMilliseconds: {
        floor.wallMilliseconds(
          system: system.wallMilliseconds(), now: system.now(), isSynchronised: isSynchronised())
      },
      sleep: system.sleep)
    return FlooredClock(time: time, plain: plain, log: log)
  }

  private init(time: TimeSource, plain: any KeyValueStore, log: Log) {
    self.time = time
    self.plain = plain
    self.log = log
  }

  /// Keeps the time at once, at every interval, and when it is cancelled.
  func run() async {
    var wasKept = true
    while !Task.isCancelled {
      wasKept = await keep(wasKept: wasKept)
      try? await time.sleep(time.now().advanced(by: NodeRuntimeLimits.floorInterval))
    }
    _ = await keep(wasKept: wasKept)
  }

  private func keep(wasKept: Bool) async -> Bool {
    let wall = time.wallMilliseconds()
    do {
      try await NodeValues.kept.clockFloor.set(wall, in: plain)
      return true
    } catch {
      // Said once until it works again: a disk that is full has enough to say elsewhere.
      if wasKept { log.error("the time could not be kept", ["reason": .description(error)]) }
      return false
    }
  }
}
