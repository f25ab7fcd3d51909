internal import Glibc

/// A file descriptor that came in a message or is to go out in one; closed with its last holder.
package final class DBusDescriptor: Sendable, Hashable {
  package let number: Int32

  /// Owns `number` from here on.
  package init(owning number: Int32) { self.number = number }

  deinit { if number >= 0 { close(number) } }

  package static func == (one: DBusDescriptor, other: DBusDescriptor) -> Bool { one.number == other.number }

  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
