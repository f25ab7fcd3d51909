/// The bounds of the control protocol, each with its reason.
public enum ControlAPILimits {
  /// The version of the protocol that this module speaks; `node.hello` names it.
  public static let apiVersion = 1
  /// Bytes of a request with its line end: the longest text in JSON escapes, and some room.
  public static let bytesOfRequest = 65_536
  /// Bytes of an answer or notification with its line end: a full list of peers fits, and it is what the server
  /// buffers for a client.
  public static let bytesOfAnswer = 1 << 20
  /// Bytes of a request's `id` when it is text.
  public static let bytesOfIdentifier = 64
  /// UTF-8 bytes of a text to send; the node may take less, and says so.
  public static let bytesOfText = 4_096
  /// UTF-8 bytes of a peer, room or client name, or a message ID, as a parameter.
  public static let bytesOfReference = 128
  /// Messages in one answer.
  public static let messagesPerList = 200
  /// Messages in one page of the history: of the longest, in JSON escapes, so many fit an answer.
  public static let messagesPerPage = 40
  /// UTF-8 bytes of what is searched for.
  public static let bytesOfSearch = 256
  /// Messages that one receipt speaks of.
  public static let messagesPerReceipt = 32
  /// Longest deadline of a ping.
  public static let millisecondsOfPing = 120_000
}
