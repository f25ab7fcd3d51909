internal import DBusKit
internal import Glibc
internal import Lifecycle
import Streams

/// `AcquireNotify`, as the versions of BlueZ have it: a program hands out a socket, and what it writes there is notified.
/// And `AcquireWrite`: BlueZ hands out a socket, and what a program writes there goes to the peer.
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

  // MARK: Writing

  struct WrittenValue: Sendable {
    var path: String
    var socket: DBusDescriptor
    /// Nil when the program has closed its end.
    var bytes: [UInt8]?
  }

  func acquireWrite(_ call: DBusMessage, _ found: Found) async {
    guard let path = call.path, writers[path] == nil else {
      return await refuse(call, "NotPermitted", "Write acquired")
    }
    guard found.characteristic.flags.contains("write-without-response"), faults.refusedSockets == 0 else {
      faults.refusedSockets = max(0, faults.refusedSockets - 1)
      return await refuse(call, "NotSupported", "Operation is not supported")
    }
    var pair: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0 else {
      return await refuse(call, "Failed", "no socket")
    }
    let (ours, theirs) = (DBusDescriptor(owning: pair[0]), DBusDescriptor(owning: pair[1]))
    writers[path] = ours
    WorkerThread.start(name: "acquired") { [writtenValues] in
      var buffer = [UInt8](repeating: 0, count: 512)
      while true {
        let count = unsafe read(ours.number, &buffer, buffer.count)
        writtenValues.offer(
          WrittenValue(path: path, socket: ours, bytes: count > 0 ? Array(buffer[..<count]) : nil))
        guard count > 0 else { break }
      }
    }
    await bus?.answer(
      call, .values([.descriptor(theirs), .uint16(UInt16(state.links[found.link].mtu))]))
  }

  /// A socket for writing ends with the connection, and with what it writes to.
  func closeWriter(_ path: String) {
    guard let socket = writers.removeValue(forKey: path) else { return }
    shutdown(socket.number, Int32(SHUT_RDWR))
  }
}
