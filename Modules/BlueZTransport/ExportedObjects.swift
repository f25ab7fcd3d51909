internal import DBusKit
internal import Streams

/// What BlueZ finds at our paths: one service with one characteristic, and the advertisement.
enum ExportedObjects {
  /// - Parameter isOwner: whether a caller is the owner of `org.bluez`: nobody else may put words into our mouth.
  static func application(isOwner: @escaping @Sendable (String?) -> Bool) -> [DBusObject] {
    let refused = DBusAnswer.error(name: DBusErrorName.accessDenied, message: "only BlueZ may")
    func method(
      _ input: String, _ output: String = "", isForwarded: Bool = false, _ values: [DBusValue] = []
    ) -> DBusInterface.Method {
      DBusInterface.Method(input, output, isForwarded: isForwarded) { call in
        isOwner(call.sender) ? .values(values) : refused
      }
    }
    return [
      DBusObject(BlueZNames.applicationPath, interfaces: [], isManager: true),
      DBusObject(
        BlueZNames.servicePath,
        interfaces: [
          DBusInterface(
            BlueZNames.gattService,
            properties: { ["UUID": .string(BlueZNames.serviceUUID), "Primary": .boolean(true)] })
        ]),
      DBusObject(
        BlueZNames.characteristicPath,
        interfaces: [
          DBusInterface(
            BlueZNames.gattCharacteristic,
            properties: {
              [
                "UUID": .string(BlueZNames.characteristicUUID), "Service": .objectPath(BlueZNames.servicePath),
                // No flag that asks for encryption: it would make BlueZ pair.
                "Flags": .strings(["write-without-response", "write", "notify"]),
              ]
            },
            methods: [
              "ReadValue": method("a{sv}", "ay", [.bytes([])]), "WriteValue": method("aya{sv}", isForwarded: true),
              "StartNotify": method(""), "StopNotify": method(""), "Confirm": method(""),
            ])
        ]),
    ]
  }

  static func advertisement(
    _ properties: @escaping @Sendable () -> [String: DBusValue], isOwner: @escaping @Sendable (String?) -> Bool
  ) -> DBusObject {
    DBusObject(
      BlueZNames.advertisementPath,
      interfaces: [
        DBusInterface(
          BlueZNames.advertisement, properties: properties, methods: ["Release": .init(isForwarded: true)])
      ])
  }
}

extension LinkMessage {
  /// The call that writes the message into a characteristic of a peer; nobody waits for its answer.
  func writing(to characteristic: String) -> DBusMessage {
    .call(
      BlueZNames.service, characteristic, BlueZNames.gattCharacteristic, "WriteValue",
      [.bytes(bytes), .properties(["type": .string("command")])])
  }
}
