internal import Glibc

/// A file descriptor that came in a message or is to go out in one; closed with its last holder.
package final class DBusDescriptor: Sendable, Hashable {
  package let number: Int32

  /// Owns `number` from here on.
  package init(owning number: Int32) { self.number = number }

  deinit { if number >= 0 { close(number) } }

  package enum Sent: Sendable, Hashable {
    case sent
    /// The other end has not read what came before.
    case full
    /// There is no other end any more.
    case closed
  }

  /// Sends one packet (`SOCK_SEQPACKET`, unix(7)) whole or not at all, without waiting.
  package func send(_ packet: [UInt8]) -> Sent {
    while true {
      let count = unsafe packet.withUnsafeBytes {
        unsafe Glibc.send(number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
      }
      if count >= 0 { return .sent }
      switch errno {
      case EINTR: continue
      case EAGAIN, ENOBUFS, ENOMEM: return .full
      default: return .closed
      }
    }
  }

  package static func == (one: DBusDescriptor, other: DBusDescriptor) -> Bool { one.number == other.number }

  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
