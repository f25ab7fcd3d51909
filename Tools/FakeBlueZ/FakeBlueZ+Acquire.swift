internal import DBusKit
internal import Glibc
internal import Lifecycle
import Streams

/// `AcquireNotify`, as the versions of BlueZ have it: a program hands out a socket, and what it writes there is notified.
extension FakeBlueZ {
  package enum Generation: String, Sendable {
    /// Up to 5.68: asked for the first subscriber; the others share the socket silently.
    case shared
    /// From 5.69: asked for every device, but what comes over any of the sockets goes to all of them; and when one device
    /// goes the first socket is closed, whoever's it is.
    case perDevice
    /// From 5.76: what comes over a socket goes to its device alone. The wrong socket is still closed.
    case exact
  }

  struct Acquired: Sendable {
    var client: Int
    var descriptor: DBusDescriptor
  }

  struct AcquiredValue: Sendable {
    var subscription: FakeState.Subscription
    var owner: String
    var client: Int
    var bytes: [UInt8]
  }

  func acquire(_ path: String, of owner: String, server: Int, client: Int, isFirst: Bool) async {
    guard isFirst || generation != .shared, let link = state.link(server, client) else { return }
    let reply = try? await bus?.call(
      .call(
        owner, path, Names.characteristic, "AcquireNotify",
        [
          .properties([
            "device": .objectPath(state.device(client, of: server)), "mtu": .uint16(UInt16(state.links[link].mtu)),
            "link": .string("LE"),
          ])
        ]), timeout: .seconds(5))
    guard case .descriptor(let descriptor)? = reply?.arguments.first else { return }
    let subscription = FakeState.Subscription(server: server, characteristic: path)
    acquired[subscription, default: []].append(Acquired(client: client, descriptor: descriptor))
    WorkerThread.start(name: "acquired") { [acquiredValues] in
      var buffer = [UInt8](repeating: 0, count: 1_024)
      while true {
        let count = unsafe read(descriptor.number, &buffer, buffer.count)
        guard count > 0 else { break }
        acquiredValues.offer(
          AcquiredValue(subscription: subscription, owner: owner, client: client, bytes: Array(buffer[..<count])))
      }
    }
  }

  func take(_ value: AcquiredValue) async {
    await notify(
      value.bytes, from: value.subscription.characteristic, of: value.owner,
      only: generation == .exact ? value.client : nil)
  }

  /// A subscriber has gone.
  func release(_ subscription: FakeState.Subscription) {
    guard let sockets = acquired[subscription], !sockets.isEmpty else { return }
    let isLast = !state.links.contains { $0.subscriptions.contains(subscription) }
    guard generation != .shared || isLast else { return }
    let closed = isLast ? sockets : [sockets[0]]
    for one in closed { shutdown(one.descriptor.number, Int32(SHUT_RDWR)) }
    acquired[subscription] = isLast ? nil : Array(sockets.dropFirst())
  }
}
