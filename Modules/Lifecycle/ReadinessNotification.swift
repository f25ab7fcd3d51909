import Glibc

/// Tells the service manager how far the program is: one datagram to the socket that systemd names in `NOTIFY_SOCKET`
/// (sd_notify(3)). A message that cannot be delivered is lost; the program works without a service manager.
package struct ReadinessNotification: Sendable {
  package enum Message: Sendable, Equatable {
    case ready
    case stopping
    /// `monotonic` is the time of CLOCK_MONOTONIC, which systemd wants beside a reload.
    case reloading(monotonic: Duration)
    /// One line for `systemctl status`, cut at `LifecycleLimits.bytesOfStatus`; control characters become spaces.
    case status(String)

    var line: String {
      switch self {
      case .ready: return "READY=1"
      case .stopping: return "STOPPING=1"
      case .reloading(let time):
        let microseconds = time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
        return "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
      case .status(let text):
        var line = "STATUS="
        for scalar in text.unicodeScalars where line.utf8.count < LifecycleLimits.bytesOfStatus {
          line.unicodeScalars.append(scalar.value < 0x20 || scalar.value == 0x7F ? " " : scalar)
        }
        return line
      }
    }
  }

  private let address: UnixSocketAddress?

  /// `socket` is the value of `NOTIFY_SOCKET`; without one, or with one that is no path and no `@name`, nothing is sent.
  package init(socket: String?) {
    address = socket.flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? try? UnixSocketAddress(path: $0) : nil }
  }

  /// True when a service manager listens.
  package var isWanted: Bool { address != nil }

  /// All messages in one datagram. True when it was delivered.
  @discardableResult package func send(_ messages: Message...) -> Bool {
    guard let address else { return false }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let text = Array(messages.map(\.line).joined(separator: "\n").utf8)
    return unsafe address.withPointer { pointer, size in
      unsafe sendto(descriptor, text, text.count, Int32(MSG_NOSIGNAL), pointer, size) == text.count
    }
  }
}
