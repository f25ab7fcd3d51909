internal import Storing

/// The numbers that a node keeps in its store, by the names that deployed stores have for them: eight bytes each, the high
/// one first.
struct NodeValues: Sendable {
  /// See `StateNumbers`: what the last record intended, and what the last one that came to its end settled.
  @Setting("state.counter", default: UInt64(0)) var stateCounter
  @Setting("state.settled", default: UInt64(0)) var stateSettled
  /// See `StateLook.ArchiveFact`.
  @Setting("state.archive", default: UInt64(0)) var archiveFact
  /// The latest time of day that this node has seen, in milliseconds since 1970.
  @Setting("clock.floor", default: UInt64(0)) var clockFloor
  /// Of the newest card that was made.
  @Setting("card.sequence", default: UInt64(0)) var cardSequence

  static let kept = NodeValues()
}
