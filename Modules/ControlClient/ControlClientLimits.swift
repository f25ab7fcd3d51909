/// The bounds of this module, each with its reason.
public enum ControlClientLimits {
  /// Events that wait for the program; beyond it new ones are dropped, and the program is told how many.
  public static let waitingEvents = 4_096
  /// Calls whose answer has not come.
  public static let pendingCalls = 256
  /// Bytes of requests that the node has not taken.
  public static let bytesOfRequests = 1 << 20
  /// How long an answer may take when the caller does not say.
  public static let deadline = Duration.seconds(10)
  /// How long the daemon may work on its store: ten thousand values on a slow card.
  public static let storeDeadline = Duration.seconds(600)
  /// Bytes read from the socket at once.
  static let bytesOfTurn = 65_536
}
