import DBusKit
import Streams

/// Properties of objects, for the answers that the bus gives without asking us.
final class PropertyShelf: Sendable {
  private let values = Protected<[String: [String: DBusValue]]>([:])

  func set(_ path: String, _ properties: [String: DBusValue]?) { values.withLock { $0[path] = properties } }

  subscript(path: String) -> [String: DBusValue] { values.withLock { $0[path] ?? [:] } }
}
