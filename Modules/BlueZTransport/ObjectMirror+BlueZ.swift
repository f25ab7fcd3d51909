internal import DBusKit
internal import Transports

/// Questions about adapters, devices and characteristics.
extension ObjectMirror {
  /// The adapter that is meant: by address, by name (`hci0`), or the first that can do what is needed and is on; where none
  /// is on, the first that can.
  ///
  /// - Parameter current: the one in use. It is kept while it works: one that comes back takes no links from it.
  package func adapter(_ wanted: String?, current: String? = nil) -> String? {
    let all = paths(with: BlueZNames.adapter)
    guard let wanted else {
      let kept = current.map { [$0] } ?? []
      let order = kept.filter(all.contains) + all
      return order.first { isUsable($0) && isPowered($0) } ?? order.first { isUsable($0) } ?? order.first
    }
    if wanted.contains(":") {
      let address = BluetoothAddress(wanted)
      return all.first {
        address != nil && value($0, BlueZNames.adapter, "Address")?.asString.flatMap { BluetoothAddress($0) } == address
      }
    }
    return all.first { $0 == "\(BlueZNames.root)/\(wanted)" }
  }

  /// Whether an adapter has everything that a node needs; the last part comes some time after the first.
  package func isUsable(_ adapter: String) -> Bool {
    properties(adapter, BlueZNames.gattManager) != nil && properties(adapter, BlueZNames.advertisingManager) != nil
  }

  package func isPowered(_ adapter: String) -> Bool { value(adapter, BlueZNames.adapter, "Powered")?.asBool == true }

  package func isConnected(_ device: String) -> Bool { value(device, BlueZNames.device, "Connected")?.asBool == true }

  /// A person has paired with it, for whatever else it does: nothing of it is ours to remove.
  package func isBonded(_ device: String) -> Bool {
    ["Paired", "Bonded", "Trusted"].contains { value(device, BlueZNames.device, $0)?.asBool == true }
  }

  package func address(of device: String) -> String? { value(device, BlueZNames.device, "Address")?.asString }

  package func device(_ address: String, on adapter: String) -> String? {
    let path = "\(adapter)/dev_\(address.replacing(":", with: "_"))"
    if properties(path, BlueZNames.device) != nil { return path }
    return paths(with: BlueZNames.device, below: adapter + "/").first { self.address(of: $0) == address }
  }

  /// Whether a device advertises, or has, our service.
  package func isOurs(_ device: String) -> Bool {
    value(device, BlueZNames.device, "UUIDs")?.asStrings?.contains(BlueZNames.serviceUUID) == true
  }

  /// Our service and our characteristic below a device, once its database was read.
  package func service(below device: String) -> String? {
    paths(with: BlueZNames.gattService, below: device + "/").first {
      value($0, BlueZNames.gattService, "UUID")?.asString == BlueZNames.serviceUUID
    }
  }

  /// Objects of an earlier connection stay where they were: they mean something only once BlueZ has looked anew.
  package func characteristic(below device: String) -> String? {
    guard value(device, BlueZNames.device, "ServicesResolved")?.asBool == true, let service = service(below: device)
    else { return nil }
    return paths(with: BlueZNames.gattCharacteristic, below: service + "/").first {
      value($0, BlueZNames.gattCharacteristic, "UUID")?.asString == BlueZNames.characteristicUUID
    }
  }

  /// The MTU of the link, where the version says it.
  package func mtu(of characteristic: String) -> Int? {
    value(characteristic, BlueZNames.gattCharacteristic, "MTU")?.asInt
  }

  /// The path of the device that an object belongs to.
  package static func device(of path: String) -> String? {
    let parts = path.split(separator: "/")
    guard parts.count >= 4, parts[3].hasPrefix("dev_") else { return nil }
    return "/" + parts[..<4].joined(separator: "/")
  }

  /// What a device that is in the air says, if it is one of ours.
  package func sighting(of device: String) -> (address: String, hint: UInt32?, digest: UInt16, strength: Int8?)? {
    guard isOurs(device), let address = address(of: device) else { return nil }
    let bytes = value(device, BlueZNames.device, "ManufacturerData")?.asEntries?
      .first { $0.key.asInt == Int(NodeAdvertisement.company) }?.value.asBytes
    let own = bytes.flatMap { NodeAdvertisement(decoding: $0) }
    let strength = value(device, BlueZNames.device, "RSSI")?.asInt.map { Int8(clamping: $0) }
    return (address, own?.hint, own?.digest ?? 0, strength)
  }
}
