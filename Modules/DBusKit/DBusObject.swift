/// What is answered to a call.
package enum DBusAnswer: Sendable {
  case values([DBusValue])
  case error(name: String, message: String)
  /// Whoever reads the forwarded call answers it, with `DBusConnection.answer`.
  case later

  package static let nothing = DBusAnswer.values([])
}

/// An interface of an exported object: its properties and what it does when it is called.
package struct DBusInterface: Sendable {
  package struct Method: Sendable {
    /// Types of the arguments; another call is refused with `InvalidArgs` before it gets here.
    package var input: String
    package var output: String
    /// Whether the call also comes out of `DBusConnection.events`, in its place among the signals.
    package var isForwarded: Bool
    package var answer: @Sendable (DBusMessage) -> DBusAnswer

    package init(
      _ input: String = "", _ output: String = "", isForwarded: Bool = false,
      answer: @escaping @Sendable (DBusMessage) -> DBusAnswer = { _ in .nothing }
    ) {
      self.input = input
      self.output = output
      self.isForwarded = isForwarded
      self.answer = answer
    }
  }

  package var name: String
  package var methods: [String: Method]
  /// Read anew for each question, all at once.
  package var properties: @Sendable () -> [String: DBusValue]
  /// Asked when a property is set; nil for an interface whose properties are read-only.
  package var set: (@Sendable (String, DBusValue) -> DBusAnswer)?

  package init(
    _ name: String, properties: @escaping @Sendable () -> [String: DBusValue] = { [:] },
    methods: [String: Method] = [:], set: (@Sendable (String, DBusValue) -> DBusAnswer)? = nil
  ) {
    self.name = name
    self.properties = properties
    self.methods = methods
    self.set = set
  }
}

/// An object at a path of a connection. `Peer`, `Properties`, `Introspectable` and, where it manages others,
/// `ObjectManager` are answered for it.
package struct DBusObject: Sendable {
  package var path: String
  package var interfaces: [DBusInterface]
  /// Whether `GetManagedObjects` here lists the objects below.
  package var isManager: Bool

  package init(_ path: String, interfaces: [DBusInterface], isManager: Bool = false) {
    self.path = path
    self.interfaces = interfaces
    self.isManager = isManager
  }

  /// `a{sa{sv}}`: what stands in `GetManagedObjects` and `InterfacesAdded`.
  package var managed: DBusValue {
    .dictionary(
      key: "s", value: "a{sv}",
      interfaces.map { interface in DBusEntry(.string(interface.name), Self.dictionary(interface.properties())) })
  }

  static func dictionary(_ properties: [String: DBusValue]) -> DBusValue {
    .dictionary(
      key: "s", value: "v",
      properties.sorted { $0.key < $1.key }.map { DBusEntry(.string($0.key), .variant($0.value)) })
  }
}
