internal import Lifecycle
internal import Storing
internal import Streams
internal import Telemetry

/// The clocks that a daemon hands to its node, with the floor of the earlier runs under the time of day; as a service it
/// keeps the floor of this run.
struct FlooredClock: Service {
  static let floorName = "clock.floor"

  let time: TimeSource
  private let plain: any KeyValueStore
  private let log: Log

  /// - Parameters:
  ///   - system: the clocks of the machine.
  ///   - isSynchronised: whether something keeps the time of day right.
  static func load(
    from plain: any KeyValueStore, system: TimeSource, isSynchronised: @escaping @Sendable () -> Bool, log: Log
  ) async throws(StoreError) -> FlooredClock {
    let kept = try await plain.get(floorName)
    let floor = ClockFloor(
      floor: kept.map { $0.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } } ?? 0, startedAt: system.now())
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
      try await plain.put([(Self.floorName, (0..<8).map { UInt8(truncatingIfNeeded: wall >> (56 - 8 * UInt64($0))) })])
      return true
    } catch {
      // Said once until it works again: a disk that is full has enough to say elsewhere.
      if wasKept { log.error("the time could not be kept", ["reason": .description(error)]) }
      return false
    }
  }
}
