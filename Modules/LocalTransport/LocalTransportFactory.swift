public import Transports

/// Makes `local:` transports, for daemons that are built with one.
public enum LocalTransportFactory {
  /// `local:DIRECTORY[,name=NAME,x=0,y=0,range=10]`
  public static let factory = TransportFactory(
    scheme: "local", usage: "local:DIRECTORY[,name=NAME,x=METRES,y=METRES,range=METRES]"
  ) { options, context throws(TransportConfigurationError) in
    func fail(_ option: String, _ reason: String) -> TransportConfigurationError {
      TransportConfigurationError(option: option, reason: reason)
    }
    let known: Set<String> = ["path", "name", "x", "y", "range"]
    if let unknown = options.values.keys.sorted().first(where: { !known.contains($0) }) {
      throw fail(unknown, "there is no such option; known are \(known.sorted().joined(separator: ", "))")
    }
    guard let path = options.values["path"], !path.isEmpty else { throw fail("path", "the directory is missing") }
    // A name in the directory is there for everybody to read: without one that was chosen for it nobody is named.
    let name = options.values["name"] ?? LocalName.made(from: context.random())
    guard LocalName.isValid(name) else { throw fail("name", "use 1 to 32 letters, digits, - and _") }
    func number(_ key: String) throws(TransportConfigurationError) -> Double? {
      guard let text = options.values[key] else { return nil }
      guard let value = Double(text), value.isFinite else { throw fail(key, "it is not a number") }
      return value
    }
    let (x, y, range) = (try number("x"), try number("y"), try number("range"))
    if let range, range < 0 { throw fail("range", "it is negative") }
    let place =
      x == nil && y == nil && range == nil
      ? nil : LocalAir.Place(x: x ?? 0, y: y ?? 0, range: range ?? .infinity)
    let transport = LocalRadio(path: path, name: name, place: place, context: context)
    try transport.check()
    return transport
  }
}
