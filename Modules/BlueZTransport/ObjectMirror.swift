package import DBusKit

/// What BlueZ exports, kept up by its signals: one snapshot for each owner of its name, and another only when signals were
/// missed.
///
/// What is said by anyone but the owner, or of an earlier owner, is ignored. An answer and the signals behind it may be
/// handed in in either order, because they reach a program on two ways: what is said while a question is out is kept, and
/// done again on top of the answer when the bus has it behind the answer. Pure.
package struct ObjectMirror: Sendable {
  package enum Change: Sendable, Hashable {
    case added(path: String, interface: String)
    case removed(path: String, interface: String)
    case changed(path: String, interface: String, names: Set<String>)
  }

  package typealias Properties = [String: DBusValue]

  private var objects: [String: [String: Properties]] = [:]
  /// The unique name of who owns `org.bluez` now.
  package private(set) var owner: String?
  /// Counts owners: what was begun under another one is void.
  package private(set) var generation = 0
  private var snapshotOrder: UInt64?
  /// Questions that have no answer yet, and what was said meanwhile; the oldest makes room.
  private var questions = 0
  private var held: [Held] = []
  /// The last that had to make room.
  private var forgottenOrder: UInt64 = 0
  /// Signals that were not the owner's, and objects that found no room.
  package private(set) var foreignSignals = 0
  package private(set) var droppedObjects = 0

  private struct Held: Sendable {
    var signal: DBusMessage
    var order: UInt64
  }

  package init() {}

  /// The answer was so late that what is behind it is not known any more: ask again.
  package var isBehind: Bool { snapshotOrder.map { forgottenOrder > $0 } ?? false }
  package var isComplete: Bool { snapshotOrder != nil }
  package var paths: [String] { objects.keys.sorted() }
  package var count: Int { objects.count }

  package func properties(_ path: String, _ interface: String) -> Properties? { objects[path]?[interface] }
  package func value(_ path: String, _ interface: String, _ name: String) -> DBusValue? {
    objects[path]?[interface]?[name]
  }

  /// Paths that have this interface, in order.
  package func paths(with interface: String, below prefix: String = "") -> [String] {
    objects.filter { $0.value[interface] != nil && $0.key.hasPrefix(prefix) }.keys.sorted()
  }

  /// BlueZ has another owner, or none: everything of before is gone.
  package mutating func setOwner(_ name: String?) {
    owner = name
    generation += 1
    objects = [:]
    snapshotOrder = nil
    (questions, held, forgottenOrder) = (0, [], 0)
  }

  /// Has to be called before `GetManagedObjects` is. A question that is repeated because it failed is the same one.
  package mutating func willAsk() { questions += 1 }

  /// The answer to `GetManagedObjects`. - Returns: what is there.
  package mutating func take(snapshot: DBusValue, order: UInt64) -> [Change] {
    questions = max(0, questions - 1)
    defer { if questions == 0 { held = [] } }
    guard order > snapshotOrder ?? 0 else { return [] }
    snapshotOrder = order
    objects = [:]
    var changes: [Change] = []
    for entry in snapshot.asEntries ?? [] {
      guard let path = entry.key.asString else { continue }
      changes += add(path, entry.value)
    }
    for one in held where one.order > order { changes += apply(one.signal) }
    return changes
  }

  /// A signal came. - Returns: what it has changed.
  package mutating func take(_ signal: DBusMessage, order: UInt64) -> [Change] {
    guard let owner, signal.sender == owner else {
      foreignSignals += 1
      return []
    }
    if questions > 0 { hold(signal, order) }
    guard let snapshotOrder, order > snapshotOrder else { return [] }
    return apply(signal)
  }

  private mutating func hold(_ signal: DBusMessage, _ order: UInt64) {
    if held.count == BlueZLimits.heldSignals { forgottenOrder = held.removeFirst().order }
    held.append(Held(signal: signal, order: order))
  }

  private mutating func apply(_ signal: DBusMessage) -> [Change] {
    switch (signal.interface, signal.member) {
    case (BlueZNames.objectManager, "InterfacesAdded"):
      // The signal comes from "/", whose object it is about stands in its first argument.
      guard let path = signal.argument(0)?.asString, let interfaces = signal.argument(1) else { return [] }
      return add(path, interfaces)
    case (BlueZNames.objectManager, "InterfacesRemoved"):
      guard let path = signal.argument(0)?.asString else { return [] }
      return remove(path, signal.argument(1)?.asStrings ?? [])
    case (BlueZNames.properties, "PropertiesChanged"):
      guard let path = signal.path, let interface = signal.argument(0)?.asString,
        let changed = signal.argument(1)?.asProperties
      else { return [] }
      return change(path, interface, changed, invalidated: signal.argument(2)?.asStrings ?? [])
    default: return []
    }
  }

  private mutating func add(_ path: String, _ interfaces: DBusValue) -> [Change] {
    guard path == "/" || path.hasPrefix(BlueZNames.root) else { return [] }
    guard objects[path] != nil || objects.count < BlueZLimits.objects else {
      droppedObjects += 1
      return []
    }
    var changes: [Change] = []
    for entry in interfaces.asEntries ?? [] {
      guard let interface = entry.key.asString, interface.hasPrefix("org.bluez."),
        let properties = entry.value.asProperties
      else { continue }
      objects[path, default: [:]][interface] = properties
      changes.append(.added(path: path, interface: interface))
    }
    return changes
  }

  /// With an adapter everything below it goes, also what nobody said goodbye to.
  private mutating func remove(_ path: String, _ interfaces: [String]) -> [Change] {
    var changes: [Change] = []
    if interfaces.contains(BlueZNames.adapter) || interfaces.contains(BlueZNames.device) {
      for below in objects.keys.filter({ $0.hasPrefix(path + "/") }).sorted(by: >) {
        changes += remove(below, objects[below]?.keys.sorted() ?? [])
      }
    }
    for interface in interfaces where objects[path]?.removeValue(forKey: interface) != nil {
      changes.append(.removed(path: path, interface: interface))
    }
    if objects[path]?.isEmpty == true { objects[path] = nil }
    return changes
  }

  private mutating func change(
    _ path: String, _ interface: String, _ changed: Properties, invalidated: [String]
  ) -> [Change] {
    guard objects[path]?[interface] != nil else { return [] }
    // A value that is notified is an event and no state: kept, it would only cost.
    for (name, value) in changed where !(interface == BlueZNames.gattCharacteristic && name == "Value") {
      objects[path]?[interface]?[name] = value
    }
    for name in invalidated { objects[path]?[interface]?[name] = nil }
    return [.changed(path: path, interface: interface, names: Set(changed.keys).union(invalidated))]
  }
}
