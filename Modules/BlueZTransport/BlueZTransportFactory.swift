internal import DBusKit
public import Transports

/// Makes `bluez:` transports, for daemons that are built with one.
public enum BlueZTransportFactory {
  /// `bluez:[adapter=00:11:22:33:44:55|hci0][,power-adapter=yes][,values=calls]`
  public static let factory = TransportFactory(
    scheme: "bluez", usage: "bluez:[adapter=ADDRESS|hciN][,power-adapter=yes|no][,values=sockets|calls]"
  ) { options, context throws(TransportConfigurationError) in
    func fail(_ option: String, _ reason: String) -> TransportConfigurationError {
      TransportConfigurationError(option: option, reason: reason)
    }
    let known: Set<String> = ["adapter", "path", "power-adapter", "values", "bus"]
    if let unknown = options.values.keys.sorted().first(where: { !known.contains($0) }) {
      throw fail(unknown, "there is no such option; known are adapter, power-adapter and values")
    }
    var configuration = BlueZRadio.Configuration()
    if let adapter = options.values["adapter"] ?? options.values["path"] {
      let address = BluetoothAddress(adapter)
      guard address != nil || isName(adapter) else {
        throw fail("adapter", "use an address like 00:11:22:33:44:55, or a name like hci0")
      }
      configuration.adapter = address?.description ?? adapter
    }
    switch options.values["power-adapter"] {
    case nil, "no": break
    case "yes": configuration.mayPower = true
    case .some(let other): throw fail("power-adapter", "\(other) is neither yes nor no")
    }
    switch options.values["values"] {
    case nil, "sockets": break
    case "calls": configuration.usesSockets = false
    case .some(let other): throw fail("values", "\(other) is neither sockets nor calls")
    }
    if let address = options.values["bus"] { configuration.bus = .address(address.replacing(";", with: ",")) }
    return BlueZRadio(configuration: configuration, context: context)
  }

  private static func isName(_ text: String) -> Bool {
    text.hasPrefix("hci") && text.count > 3 && text.dropFirst(3).allSatisfy { $0.isASCII && $0.isNumber }
  }
}
