/// The bounds of this module, each with its reason.
package enum ControlServerLimits {
  /// Clients at a time; a node serves a handful of programs, and each may hold two buffers.
  package static let clients = 64
  /// Bytes of answers that wait for a client that does not read; beyond it the client is dropped.
  package static let bytesOfAnswers = 1 << 20
  /// Events that wait for a subscriber that does not read; beyond it the oldest go and the subscriber is told.
  package static let waitingEvents = 1_024
  /// Bytes of those events.
  package static let bytesOfEvents = 1 << 20
  /// Events between the node and the one task that encodes them.
  package static let unencodedEvents = 4_096
  /// Requests of one client that wait; then the server stops reading from it.
  package static let waitingRequests = 64
  /// Requests of one client that may take long and run side by side.
  package static let longRequests = 8
  /// Lines that are no request before a client is dropped: a person with `socat` makes some mistakes, a fuzzer more.
  package static let badLines = 16
  /// Bytes read from, and handed to, a socket at once.
  package static let bytesOfTurn = 65_536
  /// Supplementary groups of a client that are looked at, the most that Linux has.
  package static let groupsOfClient = 65_536
  /// Connections that wait to be accepted.
  package static let backlog: Int32 = 64
}
