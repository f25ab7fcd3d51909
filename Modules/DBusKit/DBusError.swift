/// Why a call has no answer, or a connection cannot be used.
package enum DBusError: Error, Sendable, Hashable {
  /// The other side answered with an error: its name, and its words for people.
  case remote(name: String, message: String)
  /// No answer in time. What was asked may have been done, or may still be.
  case timedOut
  /// The bus is gone.
  case disconnected
  /// More would be queued than `DBusKitLimits.queuedBytes`.
  case queueFull
  /// The message cannot be written: a path, name or text that the protocol forbids.
  case malformed(String)
  /// There is no bus at the address; `reason` is libdbus' sentence.
  case unreachable(reason: String)
  /// The task of whoever called was cancelled.
  case cancelled
}

/// Names of errors that a program meets or answers with.
package enum DBusErrorName {
  package static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
  package static let unknownInterface = "org.freedesktop.DBus.Error.UnknownInterface"
  package static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
  package static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
  package static let readOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
  package static let invalidArguments = "org.freedesktop.DBus.Error.InvalidArgs"
  package static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
  package static let noReply = "org.freedesktop.DBus.Error.NoReply"
  package static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
  package static let noOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
  package static let failed = "org.freedesktop.DBus.Error.Failed"
}
