/// A set of link slots, 0 to 63, in one word.
package struct LinkSet: Sendable, Hashable {
  package var bits: UInt64

  package init(bits: UInt64 = 0) { self.bits = bits }

  /// One slot.
  package init(_ slot: Int) {
    bits = 0
    insert(slot)
  }

  package static let none = LinkSet()

  @inline(__always)
  package func contains(_ slot: Int) -> Bool { bits & (1 << UInt64(truncatingIfNeeded: slot & 63)) != 0 }

  @inline(__always)
  package mutating func insert(_ slot: Int) { bits |= 1 << UInt64(truncatingIfNeeded: slot & 63) }

  @inline(__always)
  package mutating func remove(_ slot: Int) { bits &= ~(1 << UInt64(truncatingIfNeeded: slot & 63)) }

  @inline(__always)
  package func subtracting(_ other: LinkSet) -> LinkSet { LinkSet(bits: bits & ~other.bits) }

  @inline(__always)
  package func intersection(_ other: LinkSet) -> LinkSet { LinkSet(bits: bits & other.bits) }

  @inline(__always)
  package func union(_ other: LinkSet) -> LinkSet { LinkSet(bits: bits | other.bits) }

  package var count: Int { bits.nonzeroBitCount }
  package var isEmpty: Bool { bits == 0 }

  /// Takes out the lowest slot; nil when the set is empty.
  @inline(__always)
  package mutating func popFirst() -> Int? {
    guard bits != 0 else { return nil }
    let slot = bits.trailingZeroBitCount
    bits &= bits &- 1
    return slot
  }
}
