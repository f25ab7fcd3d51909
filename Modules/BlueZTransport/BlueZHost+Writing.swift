internal import DBusKit
internal import Streams
internal import Telemetry
internal import Transports

/// How values leave: over the socket of a peer's characteristic, by calls, or notified to all.
extension BlueZHost {
  func say(_ message: LinkMessage, to device: String) {
    guard let way = peers[device]?.access.way(of: message) else { return }
    switch way {
    case .wait: break
    case .full: counters.count(.discardedWrites)
    case .call(let characteristic): offer(message.writing(to: characteristic))
    case .socket:
      switch peers[device]?.socket?.send(message.bytes) {
      case .sent: break
      case .full: counters.count(.discardedWrites)
      case .closed, nil:
        // Either the connection goes too, which is told, or BlueZ wants it back.
        peers[device]!.socket = nil
        peers[device]!.access.closed()
        keepFarewell(to: device)
        say(message, to: device)
      }
    case .notify:
      let tagged = LinkMessage.tagged(peers[device]!.negotiation.peerToken, message)
      offer(
        .signal(
          BlueZNames.characteristicPath, BlueZNames.properties, "PropertiesChanged",
          [
            .string(BlueZNames.gattCharacteristic), .properties(["Value": .bytes(tagged.bytes)]),
            .array(element: "s", []),
          ]))
    }
  }

  private func offer(_ message: DBusMessage) {
    if outgoing.offer(message) != .accepted { counters.count(.discardedWrites) }
  }

  /// The one who writes what goes over the bus, so that what is said first goes first; what has gathered goes at once.
  func write(_ outgoing: Channel<DBusMessage>, to bus: DBusConnection) async {
    for await message in outgoing {
      var batch = [message][...]
      while batch.count < BlueZLimits.writtenAtOnce, let next = outgoing.poll() { batch.append(next) }
      while !batch.isEmpty, !Task.isCancelled {
        batch = batch.dropFirst(await bus.send(batch))
        if !batch.isEmpty { try? await context.time.sleep(now.advanced(by: .milliseconds(5))) }
      }
    }
  }

  /// The place where a peer takes values may have changed.
  func followTarget(of device: String) {
    guard let target = peers[device]?.negotiation.target else {
      if peers[device]?.access.follow(nil) == true { leaveSocket(of: device) }
      return
    }
    guard peers[device]!.access.follow(target) else { return }
    leaveSocket(of: device)
    if !configuration.usesSockets || jobs.offer(.acquire(device: device, characteristic: target)) != .accepted {
      acquired(nil, of: target, at: device)
    }
  }

  private func leaveSocket(of device: String) {
    peers[device]!.socket = nil
    keepFarewell(to: device)
  }

  /// - Parameter reply: nil where none is asked for, or BlueZ hands out none: to nobody, or to somebody else.
  func acquired(_ reply: DBusReply?, of characteristic: String, at device: String) {
    var socket: DBusDescriptor?
    if case .descriptor(let descriptor)? = reply?.arguments.first { socket = descriptor }
    guard let held = peers[device]?.access.answered(characteristic, isGranted: socket != nil) else { return }
    if socket == nil, configuration.usesSockets { counters.count(.refusedSockets) }
    peers[device]!.socket = socket
    keepFarewell(to: device)
    if let mtu = reply?.arguments.dropFirst().first?.asInt { learn(mtu, of: device) }
    for message in held { say(message, to: device) }
  }

  /// Notes how the peer is told when this program ends.
  func keepFarewell(to device: String) {
    guard let peer = peers[device], peer.link != nil else { return }
    let farewell: SharedFacts.Farewell =
      if let socket = peer.socket { .socket(socket) } else { peer.negotiation.target.map { .call($0) } ?? .none }
    shared.state.withLock { $0.links[device] = farewell }
  }
}
