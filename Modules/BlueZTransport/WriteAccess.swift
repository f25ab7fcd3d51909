/// How values get into the characteristic of one peer. Pure.
///
/// BlueZ takes a value by a call (`WriteValue`), which passes the bus twice and is taken apart by three programs; or as one
/// packet over a socket that it hands out once (`AcquireWrite`, org.bluez.GattCharacteristic1), which costs neither. While
/// somebody holds the socket every call to write is refused. So nothing is written while it is asked for: what is said
/// meanwhile waits, in order, and goes over the socket, or by calls where BlueZ hands out none. Where the peer has no
/// characteristic that we see, what is for it is notified.
package struct WriteAccess: Sendable {
  package enum Way: Sendable, Hashable {
    case notify
    /// It is kept until it is known how to write.
    case wait
    /// As many wait as may: it is dropped.
    case full
    case call(String)
    case socket
  }

  private enum Phase: Sendable, Hashable {
    case none
    case asked(String)
    case calls(String)
    case socket(String)
  }

  private var phase = Phase.none
  private var held: [LinkMessage] = []

  package init() {}

  private var characteristic: String? {
    switch phase {
    case .none: nil
    case .asked(let path), .calls(let path), .socket(let path): path
    }
  }

  /// Where the peer takes values now: what was known of another place is void, and what waited for it is dropped, as
  /// what was under way is.
  ///
  /// - Returns: whether that is news; then the socket of the new place, if there is one, is to be asked for.
  package mutating func follow(_ path: String?) -> Bool {
    guard path != characteristic else { return false }
    phase = path.map { .asked($0) } ?? .none
    held = []
    return true
  }

  /// How this message goes.
  package mutating func way(of message: LinkMessage) -> Way {
    switch phase {
    case .none: return .notify
    case .calls(let path): return .call(path)
    case .socket: return .socket
    case .asked:
      guard held.count < BlueZLimits.heldValues else { return .full }
      held.append(message)
      return .wait
    }
  }

  /// BlueZ has answered for this place.
  ///
  /// - Returns: what has waited, to be said now; nil when nobody asks for that place any more.
  package mutating func answered(_ path: String, isGranted: Bool) -> [LinkMessage]? {
    guard phase == .asked(path) else { return nil }
    phase = isGranted ? .socket(path) : .calls(path)
    defer { held = [] }
    return held
  }

  /// The socket is closed at the other end, and the characteristic still there: by calls from now on.
  package mutating func closed() {
    if case .socket(let path) = phase { phase = .calls(path) }
  }
}
