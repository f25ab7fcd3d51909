internal import Routing
internal import Streams
internal import Telemetry

/// What the relay has seen outlives the process.
extension Relay {
  /// Learns what earlier runs have seen. Called before `run`, so before anything of a neighbour is decided; packets of our
  /// own may be sent meanwhile. What cannot be read is counted and said, and does not keep the relay from running.
  package func restore() async {
    guard let store = configuration.seenStore else { return }
    let time = configuration.time
    let now = time.now()
    engine.state.beginHistory(run: configuration.run)
    var load = SeenLoad(
      second: RelayState.second(now), wallMilliseconds: time.wallMilliseconds(),
      isClockSynchronised: configuration.isClockSynchronised())
    var below: Int64?
    do throws(SeenStoreError) {
      for _ in 0...RoutingLimits.seenGroups / RoutingLimits.seenGroupsPerSlice {
        let slice = try await store.seenGroups(below: below, limit: RoutingLimits.seenGroupsPerSlice)
        for group in slice { engine.state.restore(group.bytes, number: group.number, &load) }
        below = slice.last?.number
        guard slice.count == RoutingLimits.seenGroupsPerSlice else { break }
      }
    } catch {
      counters.count(.historyFailed)
      configuration.log.error("what was seen by earlier runs cannot be read", ["reason": .text(error.reason)])
    }
    engine.state.endRestore(load)
    counters.count(.restored, by: UInt64(load.taken))
    counters.count(.restoredExpired, by: UInt64(load.expired))
    counters.count(.restoredLeftOut, by: UInt64(load.leftOut))
    counters.count(.historyDamaged, by: UInt64(load.damaged))
    if load.damaged > 0 {
      configuration.log.warning(
        "part of what was seen by earlier runs is damaged: some packets may be passed on twice",
        ["groups": .integer(UInt64(load.damaged))])
    }
  }

  /// Keeps what was seen, until it is cancelled.
  package func keepHistory() async {
    guard configuration.seenStore != nil else { return }
    let interval = Duration.seconds(Int64(RoutingLimits.seenSaveSeconds))
    while !Task.isCancelled {
      try? await configuration.time.sleep(configuration.time.now().advanced(by: interval))
      guard !Task.isCancelled else { return }
      await saveHistory()
    }
  }

  /// Writes what is not yet written. Called by `keepHistory`, and once more when everything else has ended.
  package func saveHistory(isLast: Bool = false) async {
    guard let store = configuration.seenStore,
      let save = engine.state.save(
        now: configuration.time.now(), wallMilliseconds: configuration.time.wallMilliseconds(),
        isClockSynchronised: configuration.isClockSynchronised())
    else { return }
    do {
      try await store.keep(save, isLast: isLast)
      engine.state.saved(save)
      isHistoryFailing = false
    } catch {
      engine.state.saveFailed()
      counters.count(.historyFailed)
      // Said once until it works again: a disk that is full has enough to say elsewhere.
      if !isHistoryFailing {
        configuration.log.error("what was seen cannot be kept", ["reason": .text(error.reason)])
      }
      isHistoryFailing = true
    }
  }
}
