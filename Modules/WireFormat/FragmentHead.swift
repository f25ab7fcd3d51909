internal import Bytes

/// Which piece of which packet follows: key 8 · index 2 · count 2.
package struct FragmentHead: Hashable, Sendable {
  /// `PacketID.key` of the whole packet.
  package let key: UInt64
  package let index: Int
  /// At least 2: a packet in one piece is a packet frame.
  package let count: Int

  package init(key: UInt64, index: Int, count: Int) throws(WireError) {
    guard (2...WireLimits.fragmentCount).contains(count) else { throw .fragmentCount(count) }
    guard (0..<count).contains(index) else { throw .fragmentIndex(index, count: count) }
    self.key = key
    self.index = index
    self.count = count
  }

  init(from reader: inout ByteReader) throws(WireError) {
    let key = try reader.field64()
    let index = Int(try reader.field16())
    let count = Int(try reader.field16())
    try self.init(key: key, index: index, count: count)
  }

  package var isLast: Bool { index == count - 1 }
}

/// Fragments `first` to `first + count − 1`.
package struct FragmentRange: Hashable, Sendable {
  package let first: Int
  package let count: Int

  package init(first: Int, count: Int) {
    self.first = first
    self.count = count
  }

  /// The index behind the last.
  package var end: Int { first &+ count }
}
