package import Streams
package import Telemetry
package import Transports

/// Listens on every transport while there is room for a link, and tells the links whom it hears.
///
/// Contract: `run` returns when its task is cancelled. Nothing is asked of a transport before it is powered on; a
/// refusal is tried again with back-off. Hints only flow out: the newest per address stands.
package actor Scanner {
  private let transports: [any Transport]
  private let candidates: Hints<Candidate.Key, Candidate>
  private let occupancy: Latest<LinkOccupancy>
  private let time: TimeSource
  private let log: Log
  private var filter = SightingFilter()

  package nonisolated let counters = CounterSet<ScanCount>("scanner")

  package init(
    transports: [any Transport], candidates: Hints<Candidate.Key, Candidate>, occupancy: Latest<LinkOccupancy>,
    time: TimeSource, log: Log
  ) {
    self.transports = transports
    self.candidates = candidates
    self.occupancy = occupancy
    self.time = time
    self.log = log
  }

  package func run() async {
    await withDiscardingTaskGroup { group in
      for index in transports.indices {
        group.addTask { await self.listen(on: index) }
        group.addTask { await self.control(index) }
      }
    }
    candidates.finish()
  }

  private func listen(on index: Int) async {
    for await sighting in transports[index].sightings {
      counters.count(.sightings)
      guard let candidate = filter.heard(sighting, transport: index, now: time.now()) else { continue }
      counters.count(.candidates)
      candidates.offer(candidate, for: candidate.key)
    }
  }

  /// Switches scanning on when the transport is powered on and there is room, and off when there is none.
  private func control(_ index: Int) async {
    let transport = transports[index]
    let wishes = Latest(false)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [occupancy] in
        for await state in transport.state { wishes.set(state == .poweredOn && occupancy.value.hasRoom) }
      }
      group.addTask { [occupancy] in
        for await occupancy in occupancy { wishes.set(transport.state.value == .poweredOn && occupancy.hasRoom) }
      }
      group.addTask { await self.follow(wishes, on: transport) }
      await group.waitForAll()
    }
  }

  private func follow(_ wishes: Latest<Bool>, on transport: any Transport) async {
    var isScanning = false
    for await wish in wishes {
      if transport.state.value != .poweredOn { isScanning = false }
      guard wish != isScanning else { continue }
      var wait = ScanningLimits.firstRetry
      while wishes.value == wish, !Task.isCancelled {
        do throws(TransportError) {
          try await transport.scan(wish)
          isScanning = wish
          break
        } catch {
          guard transport.state.value == .poweredOn else { break }
          counters.count(.refused)
          log.warning(
            "scanning refused", ["transport": .text(transport.properties.name), "reason": .description(error)])
          try? await time.sleep(time.now().advanced(by: wait))
          wait = min(wait * 2, ScanningLimits.lastRetry)
        }
      }
    }
  }
}

/// What the scanner counts, by reason.
package enum ScanCount: String, CounterReason {
  case sightings, candidates
  /// The transport did not start or stop scanning.
  case refused
}
