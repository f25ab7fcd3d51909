package import Routing

/// What was seen could not be written or read.
package struct SeenStoreError: Error, Sendable, Equatable {
  package var reason: String

  package init(reason: String) { self.reason = reason }
}

/// Where a relay keeps what it has seen, for the next run.
///
/// Contract: a save is written whole or not at all, and survives the death of the process when the call returns; a loss
/// of power may take the last ones. Calls may take as long as a disk takes; they never block the thread of the caller.
package protocol SeenStore: Sendable {
  /// Groups with a number below `number`, highest first, at most `limit`; without one, from the highest on. The bytes are
  /// nil where a group does not open.
  func seenGroups(below number: Int64?, limit: Int) async throws(SeenStoreError) -> [(number: Int64, bytes: [UInt8]?)]

  /// Writes the groups and removes those below `firstKept`.
  ///
  /// - Parameter isLast: the node stops, and what is written is to survive a loss of power too.
  func keep(_ save: SeenSave, isLast: Bool) async throws(SeenStoreError)
}
