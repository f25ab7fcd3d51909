import BlueZTransport
import DBusKit
import FuzzSupport

private let owner = ":1.7"

private let seeds: [DBusMessage] = [
  .signal(
    "/org/bluez/hci0/dev_00_B1_1E_00_00_01", "org.freedesktop.DBus.Properties", "PropertiesChanged",
    [
      .string("org.bluez.Device1"),
      .properties(["Connected": .boolean(true), "RSSI": .int16(-50), "UUIDs": .strings([BlueZNames.serviceUUID])]),
      .array(element: "s", [.string("Name")]),
    ]),
  .signal(
    "/", "org.freedesktop.DBus.ObjectManager", "InterfacesAdded",
    [
      .objectPath("/org/bluez/hci0"),
      .dictionary(
        key: "s", value: "a{sv}",
        [
          DBusEntry(
            .string("org.bluez.Adapter1"),
            .dictionary(key: "s", value: "v", [DBusEntry(.string("Powered"), .variant(.boolean(true)))]))
        ]),
    ]),
  .signal(
    "/", "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
    [.objectPath("/org/bluez/hci0"), .strings(["org.bluez.Adapter1"])]),
  .call(
    "org.bluez", "/org/relaychat/service0/char0", "org.bluez.GattCharacteristic1", "WriteValue",
    [
      .bytes([2, 0, 1, 2, 3]),
      .properties(["device": .objectPath("/org/bluez/hci0/dev_00"), "mtu": .uint16(517), "link": .string("LE")]),
    ]),
  DBusMessage(kind: .error, errorName: "org.bluez.Error.Failed", replySerial: 3, arguments: [.string("in progress")]),
  .signal(
    "/types", "org.example.Types", "All",
    [
      .structure([.byte(1), .boolean(true), .int16(-1), .uint16(2), .int32(-3), .uint32(4), .int64(-5), .uint64(6)]),
      .variant(.structure([.signature("a{sv}"), .objectPath("/a"), .variant(.double(0.5))])),
      .array(element: "(yv)", [.structure([.byte(1), .variant(.strings(["x"]))])]), .array(element: "au", []),
      .dictionary(key: "q", value: "v", [DBusEntry(.uint16(0xFFFF), .variant(.bytes([1, 2])))]),
      .dictionary(key: "o", value: "a{sv}", []),
    ]),
  DBusMessage(kind: .reply, replySerial: 3, arguments: [.double(1.5), .int64(-1), .uint64(1), .byte(7), .int32(-5)]),
]

/// Any bytes are a message of a bus or none; what is read can be written and is then the same; and a mirror of BlueZ takes
/// whatever its owner may say.
private let fuzzer = Fuzzer(
  seeds: {
    try seeds.enumerated().map { ("message-\($0.offset)", try $0.element.encoded(serial: 9)) }
  },
  test: { bytes in
    guard var message = DBusMessage(decoding: bytes) else { return }
    if let again = try? message.encoded(serial: 9) {
      guard let second = DBusMessage(decoding: again) else { return require(false, "what was written is read") }
      // Bytes and not values are compared: there are numbers that differ from themselves.
      require((try? second.encoded(serial: 9)) == again, "a message comes back")
    }
    message.sender = owner
    var mirror = ObjectMirror()
    mirror.setOwner(owner)
    if let first = message.arguments.first { _ = mirror.take(snapshot: first, order: 1) }
    _ = mirror.take(message, order: 2)
    for path in mirror.paths(with: BlueZNames.device) {
      _ = mirror.sighting(of: path)
      _ = mirror.characteristic(below: path)
    }
    _ = mirror.adapter(nil)
  })

@_cdecl("FuzzBusMessage_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
