internal import DBusKit
internal import Streams

/// What a change of the adapter that is used takes with it.
extension BlueZHost {
  /// Another adapter is used from now on: what we have at the former one would answer for us there, as nobody.
  func leave(_ former: String) {
    guard mirror.properties(former, BlueZNames.adapter) != nil else { return }
    for device in peers.keys.sorted() where mirror.isConnected(device) {
      outgoing.offer(.call(BlueZNames.service, device, BlueZNames.device, "Disconnect"))
    }
    let ends: [(String, String, [DBusValue])] = [
      (BlueZNames.adapter, "StopDiscovery", []),
      (BlueZNames.advertisingManager, "UnregisterAdvertisement", [.objectPath(BlueZNames.advertisementPath)]),
      (BlueZNames.gattManager, "UnregisterApplication", [.objectPath(BlueZNames.applicationPath)]),
    ]
    for (interface, method, arguments) in ends {
      outgoing.offer(.call(BlueZNames.service, former, interface, method, arguments))
    }
  }

  /// Devices that were connected before their adapter was taken up: left over from a crash, or faster than we are.
  func meetConnected() {
    guard let adapter else { return }
    for device in mirror.paths(with: BlueZNames.device, below: adapter + "/")
    where peers[device] == nil && mirror.isConnected(device) {
      connected(device)
    }
  }
}
