/// Why a neighbour closes the link. Every number is a value; unknown ones are shown as numbers.
package struct GoodbyeReason: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The node stops.
  package static let stopping = GoodbyeReason(rawValue: 0)
  /// Another link to the same peer stays.
  package static let duplicateLink = GoodbyeReason(rawValue: 1)
  /// The slot is needed for another peer.
  package static let noRoom = GoodbyeReason(rawValue: 2)
  /// Too much that could not be understood.
  package static let misbehaving = GoodbyeReason(rawValue: 3)
  /// Nothing came for too long.
  package static let silent = GoodbyeReason(rawValue: 4)
}
