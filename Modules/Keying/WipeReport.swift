/// What a wipe did, for whoever has to believe it.
package struct WipeReport: Equatable, Sendable {
  package struct Removed: Equatable, Sendable {
    package let path: String
    /// In bytes, before it was removed.
    package let size: Int
    /// Whether zeros were put over the content first: of keys and of what was plain, where the disk let us.
    package let isOverwritten: Bool
  }

  package struct Left: Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
      /// It belongs to another user.
      case notOurs(owner: UInt32)
      /// The system did not let us; an `errno`.
      case refused(code: Int32)
      /// No name of ours: it was not touched.
      case unknown
    }

    package let path: String
    package let reason: Reason
  }

  /// In the order of removal. What an interrupted run had removed before is not in it.
  package var removed: [Removed] = []
  /// What was looked at and is there still.
  package var left: [Left] = []
  /// Whether a former run was finished.
  package var isResumed = false
  /// Names in the directory after the last removal, as the system lists them.
  package var remaining: [String] = []

  package init() {}

  /// Whether nothing of the node is left: neither in the directory nor of what was named beside it.
  package var isComplete: Bool { left.allSatisfy { $0.reason == .unknown } }
}
