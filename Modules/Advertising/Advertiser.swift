package import Streams
package import Telemetry
package import Transports

/// Lets others hear us on every transport, as long as there is room for a link.
///
/// Contract: `run` returns when its task is cancelled. Nothing is asked of a transport before it is powered on, and it
/// is told again after it was off; a refusal is tried again with back-off.
package actor Advertiser {
  private enum Change: Sendable {
    case powered(Bool)
    case occupied(LinkOccupancy)
    case digest(UInt16)
  }

  private let transports: [any Transport]
  private let hint: UInt32
  private let occupancy: Latest<LinkOccupancy>
  private let digest: Latest<UInt16>
  private let time: TimeSource
  private let log: Log

  package nonisolated let counters = CounterSet<AdvertiseCount>("advertiser")

  /// - Parameters:
  ///   - hint: 32 random bits of this boot.
  ///   - digest: of the newest messages held.
  package init(
    transports: [any Transport], hint: UInt32, occupancy: Latest<LinkOccupancy>, digest: Latest<UInt16>,
    time: TimeSource, log: Log
  ) {
    self.transports = transports
    self.hint = hint
    self.occupancy = occupancy
    self.digest = digest
    self.time = time
    self.log = log
  }

  package func run() async {
    await withDiscardingTaskGroup { group in
      for transport in transports { group.addTask { await self.advertise(on: transport) } }
    }
  }

  private func advertise(on transport: any Transport) async {
    let changes = Channel<Change>(capacity: 16)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { for await state in transport.state { _ = await changes.send(.powered(state == .poweredOn)) } }
      group.addTask { [occupancy] in for await value in occupancy { _ = await changes.send(.occupied(value)) } }
      group.addTask { [digest] in for await value in digest { _ = await changes.send(.digest(value)) } }
      var state = AdvertisementState(hint: hint)
      for await change in changes {
        var action =
          switch change {
          case .powered(let isOn): state.powered(isOn)
          case .occupied(let occupancy): state.occupied(occupancy)
          case .digest(let digest): state.holds(digest: digest)
          }
        var wait = AdvertisingLimits.firstRetry
        while let asked = action, !Task.isCancelled {
          action = nil
          guard await !perform(asked, on: transport), transport.state.value == .poweredOn else { break }
          try? await time.sleep(time.now().advanced(by: wait))
          wait = min(wait * 2, AdvertisingLimits.lastRetry)
          action = state.refused()
        }
      }
    }
  }

  private func perform(_ action: AdvertisementState.Action, on transport: any Transport) async -> Bool {
    do throws(TransportError) {
      switch action {
      case .advertise(let advertisement): try await transport.advertise(advertisement)
      case .stop: try await transport.advertise(nil)
      }
      counters.count(.changed)
      return true
    } catch {
      counters.count(.refused)
      log.warning(
        "advertising refused", ["transport": .text(transport.properties.name), "reason": .description(error)])
      return false
    }
  }
}

/// What the advertiser counts, by reason.
package enum AdvertiseCount: String, CounterReason {
  case changed
  /// The transport did not take the advertisement.
  case refused
}
