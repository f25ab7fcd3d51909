public import ControlAPI

/// Why a call failed. Facts for the program, which makes the sentence.
public enum ControlClientError: Error, Sendable, Equatable {
  /// There is no socket at the path, or nobody answers on it.
  case notRunning(path: String)
  /// The socket is there, but this user may not connect.
  case noAccess(path: String)
  /// The path does not fit the address of a socket.
  case badPath(path: String)
  case systemCall(name: String, code: Int32)
  /// The node speaks another version of the protocol.
  case unsupportedVersion(node: Int?)
  /// The node answered with an error.
  case refused(ControlError)
  /// The answer did not come in time; the node may have done what was asked.
  case timeout
  /// The connection has ended.
  case connectionLost
  /// The task was cancelled.
  case cancelled
  /// Too many calls, or too many bytes, wait for the node.
  case tooMuchWaits
  /// The node's answer cannot be understood.
  case unexpectedAnswer
}
