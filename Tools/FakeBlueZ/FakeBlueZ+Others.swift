internal import DBusKit
import Streams

/// What others do at an adapter: devices that are no nodes, programs that hold what we need, a `bluetoothd` that comes and
/// goes.
extension FakeBlueZ {
  // MARK: Devices that are none of ours

  /// A device connects and says nothing. It stands at the place of an adapter where no node is.
  func connectForeign(_ device: Int, to number: Int) async {
    guard state.link(device, number) == nil else { return }
    state.open(device, number, mtu: mtu, isResolved: true)
    if state.adapters[number].devices.contains(device) {
      await tell(state.device(device, of: number), Names.device, ["Connected": .boolean(true)])
    } else {
      await addDevice(device, at: number, [:])
    }
    await tell(state.device(device, of: number), Names.device, ["ServicesResolved": .boolean(true)])
  }

  /// Whoever has connected with `connectForeign` looks at the services there.
  func showServices(of server: Int, at client: Int) async {
    await addDevice(server, at: client, [:])
    await addServices(of: server, at: client)
  }

  /// Values that mean nothing, into the characteristic of whoever is at the adapter.
  func writeGarbage(from device: Int, to number: Int, count: Int) async {
    for round in 0..<count {
      for application in state.adapters[number].applications {
        guard let characteristic = application.characteristics.first, state.link(device, number) != nil else {
          continue
        }
        var write = DBusMessage.call(
          application.owner, characteristic.path, Names.characteristic, "WriteValue",
          [
            .bytes([0xE0] + (0..<round % 40).map { UInt8(truncatingIfNeeded: $0 &* 37) }),
            .properties([
              "device": .objectPath(state.device(device, of: number)), "mtu": .uint16(UInt16(mtu)),
              "link": .string("LE"),
            ]),
          ])
        write.isReplyExpected = false
        try? await bus?.send(write)
      }
    }
  }

  // MARK: Objects that go

  /// The device object goes while it is connected, as after `RemoveDevice` of another program.
  func removeDevice(_ other: Int, at number: Int) async {
    await disconnect(number, other)
    await forget(other, at: number)
  }

  /// The database of a peer has changed: its objects go and come back at other paths, the connection stays.
  func changeServices(of server: Int) async {
    await withdrawServices(of: server)
    state.moves[server, default: 0] += 1
    work.offer(.later(pace.resolve, .offer(server)))
  }

  func tellInstances(_ number: Int) async {
    await export(adapter: number)
    let count = state.adapters[number].advertised.count + state.adapters[number].foreignAdvertisements
    await signalChange(
      FakeState.path(number), Names.advertisingManager,
      [
        "ActiveInstances": .byte(UInt8(clamping: count)),
        "SupportedInstances": .byte(UInt8(clamping: max(0, 5 - count))),
      ])
  }

  // MARK: bluetoothd itself

  /// A connection that the kernel has kept over a crash: listed as connected, and nothing is ever read over it.
  /// - Parameter uuid: what BlueZ has in its cache of both.
  func leaveStale(_ one: Int, _ other: Int, uuid: String) async {
    guard state.link(one, other) == nil else { return }
    state.open(one, other, mtu: mtu)
    for (number, device) in [(one, other), (other, one)] where state.adapters[number].isPlugged {
      await addDevice(device, at: number, ["UUIDs": .strings([uuid])])
    }
  }

  /// Ends in order: adapters go off, which is said, and the name is given back.
  func stop() async {
    for number in state.adapters.indices where state.adapters[number].isPlugged { await power(number, false) }
    _ = try? await bus?.call(
      .call(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReleaseName", [.string("org.bluez")]))
  }
}
