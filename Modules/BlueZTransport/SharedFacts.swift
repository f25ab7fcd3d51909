internal import DBusKit
internal import Streams

/// What the exported objects are asked for, on the actor of the bus.
final class SharedFacts: Sendable {
  struct State: Sendable {
    /// The unique name of who owns `org.bluez`.
    var owner: String?
    var advertisement: NodeAdvertisement?
    /// Whether our part of the advertisement is left out.
    var isBare = false
    /// Devices with a link of ours, and how to write to them.
    var links: [String: Farewell] = [:]
  }

  /// How a peer is told that we go.
  enum Farewell: Sendable {
    /// It cannot be written to.
    case none
    case call(String)
    case socket(DBusDescriptor)
  }

  let state = Protected(State())

  /// Says goodbye to all, over sockets at once and else with what is returned. What we have connected ends with us; BlueZ
  /// would keep it. It takes two seconds to hang up, so a goodbye over a socket is not late.
  func sayGoodbye() -> [DBusMessage] {
    state.withLock { $0.links }.sorted { $0.key < $1.key }.flatMap { device, farewell in
      let end = DBusMessage.call(BlueZNames.service, device, BlueZNames.device, "Disconnect")
      switch farewell {
      case .none: return [end]
      case .call(let target): return [LinkMessage.bye.writing(to: target), end]
      case .socket(let socket):
        _ = socket.send(LinkMessage.bye.bytes)
        return [end]
      }
    }
  }
}
