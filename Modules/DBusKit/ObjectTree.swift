/// The objects a connection exports, and the answer to every call to them: nobody who calls us waits in vain. Pure but
/// for what the methods do.
struct ObjectTree: Sendable {
  private var objects: [String: DBusObject] = [:]
  /// What `GetMachineId` says.
  let machineID: String

  init(machineID: String) { self.machineID = machineID }

  /// - Returns: false when there are too many; the object is then not there.
  mutating func insert(_ object: DBusObject) -> Bool {
    guard objects[object.path] != nil || objects.count < DBusKitLimits.objects else { return false }
    objects[object.path] = object
    return true
  }

  mutating func remove(_ path: String) -> DBusObject? { objects.removeValue(forKey: path) }

  subscript(path: String) -> DBusObject? { objects[path] }

  var count: Int { objects.count }

  func answer(_ call: DBusMessage) -> DBusAnswer {
    let path = call.path ?? "/"
    let member = call.member ?? ""
    switch (call.interface, member) {
    case ("org.freedesktop.DBus.Peer", "Ping"): return .nothing
    case ("org.freedesktop.DBus.Peer", "GetMachineId"): return .values([.string(machineID)])
    case ("org.freedesktop.DBus.Introspectable", "Introspect"): return .values([.string(introspection(path))])
    default: break
    }
    guard let object = objects[path] else {
      return .error(name: DBusErrorName.unknownObject, message: "there is no object \(path)")
    }
    switch call.interface {
    case "org.freedesktop.DBus.Properties": return properties(call, object)
    case "org.freedesktop.DBus.ObjectManager" where object.isManager && member == "GetManagedObjects":
      return .values([managed(below: path)])
    default: return method(call, object)
    }
  }

  /// Whether the call is one that its method forwards, with the right arguments.
  func isForwarded(_ call: DBusMessage) -> Bool {
    guard let object = objects[call.path ?? ""], let member = call.member else { return false }
    return object.interfaces.contains {
      guard call.interface == nil || call.interface == $0.name, let method = $0.methods[member] else { return false }
      return method.isForwarded && method.input == call.typeSignature
    }
  }

  private func method(_ call: DBusMessage, _ object: DBusObject) -> DBusAnswer {
    let member = call.member ?? ""
    var candidates = object.interfaces
    if let name = call.interface {
      candidates.removeAll { $0.name != name }
      guard !candidates.isEmpty else {
        return .error(name: DBusErrorName.unknownInterface, message: "\(object.path) has no \(name)")
      }
    }
    guard let method = candidates.lazy.compactMap({ $0.methods[member] }).first else {
      return .error(name: DBusErrorName.unknownMethod, message: "\(object.path) has no \(member)")
    }
    guard call.typeSignature == method.input else {
      return .error(
        name: DBusErrorName.invalidArguments, message: "\(member) takes (\(method.input)), not (\(call.typeSignature))")
    }
    return method.answer(call)
  }

  private func properties(_ call: DBusMessage, _ object: DBusObject) -> DBusAnswer {
    guard let name = call.argument(0)?.asString, let interface = object.interfaces.first(where: { $0.name == name })
    else {
      return .error(name: DBusErrorName.unknownInterface, message: "\(object.path) has no such interface")
    }
    let unknown = DBusAnswer.error(name: DBusErrorName.unknownProperty, message: "\(name) has no such property")
    switch (call.member, call.typeSignature) {
    case ("GetAll", "s"): return .values([DBusObject.dictionary(interface.properties())])
    case ("Get", "ss"):
      guard let property = call.argument(1)?.asString, let value = interface.properties()[property] else {
        return unknown
      }
      return .values([.variant(value)])
    case ("Set", "ssv"):
      guard let property = call.argument(1)?.asString, interface.properties()[property] != nil else { return unknown }
      guard let set = interface.set, let value = call.argument(2)?.unwrapped else {
        return .error(name: DBusErrorName.readOnly, message: "\(property) can only be read")
      }
      return set(property, value)
    default: return .error(name: DBusErrorName.unknownMethod, message: "Properties has no such method")
    }
  }

  /// `a{oa{sa{sv}}}` of everything under a path.
  private func managed(below path: String) -> DBusValue {
    let prefix = path == "/" ? "/" : path + "/"
    let below = objects.values.filter { $0.path != path && $0.path.hasPrefix(prefix) }.sorted { $0.path < $1.path }
    return .dictionary(
      key: "o", value: "a{sa{sv}}", below.map { DBusEntry(.objectPath($0.path), $0.managed) })
  }

  private func introspection(_ path: String) -> String {
    var text = "<node>"
    if let object = objects[path] {
      var names = object.interfaces.map(\.name)
      names += ["org.freedesktop.DBus.Peer", "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Properties"]
      if object.isManager { names.append("org.freedesktop.DBus.ObjectManager") }
      for name in names { text += "<interface name=\"\(name)\"/>" }
    }
    let prefix = path == "/" ? "/" : path + "/"
    let children = Set(
      objects.keys.filter { $0.hasPrefix(prefix) && $0 != path }.compactMap {
        $0.dropFirst(prefix.count).split(separator: "/").first.map(String.init)
      })
    for child in children.sorted() { text += "<node name=\"\(child)\"/>" }
    return text + "</node>"
  }
}
