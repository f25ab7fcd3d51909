/// What a transport wants to know again after a restart: little, and nothing that is secret or cannot be learned anew.
///
/// Each transport has its own keys. A key has at most `TransportsLimits.bytesOfKey` bytes and a value at most
/// `TransportsLimits.bytesOfMemory`; a transport has at most `TransportsLimits.keys` keys. What goes beyond is not kept,
/// and what the store cannot give is not there: nobody may depend on it.
public struct TransportMemory: Sendable {
  /// What was kept under a key, in this run or an earlier one.
  public var recall: @Sendable (_ key: String) async -> [UInt8]?
  /// Replaces what is kept under a key. When it returns, the value outlives the process, or could not be kept.
  public var keep: @Sendable (_ key: String, _ value: [UInt8]) async -> Void

  public init(
    recall: @escaping @Sendable (_ key: String) async -> [UInt8]?,
    keep: @escaping @Sendable (_ key: String, _ value: [UInt8]) async -> Void
  ) {
    self.recall = recall
    self.keep = keep
  }

  /// Keeps nothing.
  public static let none = TransportMemory(recall: { _ in nil }, keep: { _, _ in })

  /// Whether a value may be kept under a key.
  public static func isWithinLimits(_ key: String, _ value: [UInt8]) -> Bool {
    key.utf8.count <= TransportsLimits.bytesOfKey && value.count <= TransportsLimits.bytesOfMemory
  }
}
