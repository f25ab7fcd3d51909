/// Names of BlueZ' D-Bus API, and the two UUIDs by which nodes find each other.
package enum BlueZNames {
  package static let service = "org.bluez"
  package static let root = "/org/bluez"
  package static let adapter = "org.bluez.Adapter1"
  package static let device = "org.bluez.Device1"
  package static let gattManager = "org.bluez.GattManager1"
  package static let gattService = "org.bluez.GattService1"
  package static let gattCharacteristic = "org.bluez.GattCharacteristic1"
  package static let advertisingManager = "org.bluez.LEAdvertisingManager1"
  package static let advertisement = "org.bluez.LEAdvertisement1"
  package static let properties = "org.freedesktop.DBus.Properties"
  package static let objectManager = "org.freedesktop.DBus.ObjectManager"

  /// Whoever shares these two can meet.
  package static let serviceUUID = "fd4d710a-584c-42d5-8b04-3fa704889a08"
  package static let characteristicUUID = "f77a5d46-27fe-4daa-8ce6-410e4d40eee5"

  /// Objects that we export.
  package static let applicationPath = "/chat/relay"
  package static let servicePath = "/chat/relay/service0"
  package static let characteristicPath = "/chat/relay/service0/characteristic0"
  package static let advertisementPath = "/chat/relay_advertisement"
}
