internal import Storing

/// The numbers that a node keeps in its store, by the names that deployed stores have for them: eight bytes each, the high
/// one first.
struct NodeValues: Sendable {
  /// How often the state was opened; see `StateCounter`.
  @Setting("state.counter", default: UInt64(0)) var stateCounter
  /// The latest time of day that this node has seen, in milliseconds since 1970.
  @Setting("clock.floor", default: UInt64(0)) var clockFloor
  /// Of the newest card that was made.
  @Setting("card.sequence", default: UInt64(0)) var cardSequence

  static let kept = NodeValues()
}
