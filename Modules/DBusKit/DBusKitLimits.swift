/// Limits of this module, each with its reason.
package enum DBusKitLimits {
  /// Calls that wait for an answer at a time: a quarter of what a bus allows one connection, so that it never refuses.
  package static let outstandingCalls = 32
  /// Calls that wait until one of those was answered.
  package static let waitingCalls = 1_024
  /// Bytes that may be queued for the bus: libdbus itself takes any number and tells nobody.
  package static let queuedBytes = 256 << 10
  /// A call that was not answered by then has no answer, unless the caller said otherwise: libdbus' own number.
  package static let timeout: Duration = .seconds(25)
  /// Signals that wait to be read: a full mirror of a busy machine. While there is no room the socket is not read, and
  /// the bus keeps the rest.
  package static let waitingSignals = 1_024
  /// Exported objects.
  package static let objects = 256
  /// Match rules: far below the 512 of a bus.
  package static let matchRules = 64
  /// Containers inside each other: what the specification allows.
  package static let depth = 64
}
