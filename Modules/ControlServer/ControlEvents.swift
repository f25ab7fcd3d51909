package import ControlAPI
import Streams
import Synchronization

/// Where the node tells what happens. Never waits: an event that finds no room is missing for every subscriber, and
/// each is told how many.
package final class ControlEvents: Sendable {
  let waiting = Channel<ControlEvent>(capacity: ControlServerLimits.unencodedEvents)
  private let wanted = Atomic<UInt8>(0)
  private let missed = Atomic<UInt64>(0)

  package init() {}

  /// Whether anybody has subscribed to such events: lets the node skip the making of them.
  package func isWanted(_ kind: ControlEventKind) -> Bool { wanted.load(ordering: .relaxed) & Self.bit(kind) != 0 }

  package func publish(_ event: ControlEvent) {
    guard isWanted(event.kind) else { return }
    if waiting.offer(event) == .full { missed.wrappingAdd(1, ordering: .relaxed) }
  }

  func setWanted(_ kinds: Set<ControlEventKind>) {
    wanted.store(kinds.reduce(0) { $0 | Self.bit($1) }, ordering: .relaxed)
  }

  /// Events that found no room since the last call.
  func takeMissed() -> UInt64 { missed.exchange(0, ordering: .relaxed) }

  private static func bit(_ kind: ControlEventKind) -> UInt8 {
    switch kind {
    case .message: 1
    case .delivery: 2
    case .peer: 4
    case .link: 8
    case .reception: 16
    case .lagged: 32
    case .contact: 64
    }
  }
}
