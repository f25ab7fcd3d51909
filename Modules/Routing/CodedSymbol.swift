/// One coded symbol of a set of 64-bit keys: what the keys in it add up to. 13 bytes on the wire: count 1 · sum 8 · check 4.
///
/// The difference of the same symbol of two sets is the symbol of the difference of the sets. One that holds a single key
/// shows it: the check tells it from several that look like one, but for a chance of 2^-32 and a count that is off by a
/// multiple of 256, each time it is tried; a key that is recovered wrongly is a request that nobody can answer.
package struct CodedSymbol: Sendable, Hashable {
  package static let byteCount = 13

  /// Keys in it, modulo 256.
  package var count: UInt8 = 0
  /// Their exclusive or.
  package var sum: UInt64 = 0
  /// The exclusive or of their keyed hashes, as far as they fit.
  package var check: UInt32 = 0

  package init() {}

  package init(count: UInt8, sum: UInt64, check: UInt32) {
    self.count = count
    self.sum = sum
    self.check = check
  }

  package var isEmpty: Bool { count == 0 && sum == 0 && check == 0 }

  mutating func add(_ item: SketchItem) {
    count &+= 1
    sum ^= item.key
    check ^= item.check
  }

  mutating func remove(_ item: SketchItem) {
    count &-= 1
    sum ^= item.key
    check ^= item.check
  }

  /// What is in this one and not in the other, less what is in the other and not in this one.
  mutating func subtract(_ other: CodedSymbol) {
    count &-= other.count
    sum ^= other.sum
    check ^= other.check
  }
}

/// A key with what a sketch needs of it.
struct SketchItem: Sendable {
  let key: UInt64
  let check: UInt32
  var sequence: SymbolSequence

  init(_ key: UInt64, _ hash: KeyedHash) {
    let hashed = hash(key)
    self.key = key
    check = UInt32(truncatingIfNeeded: hashed)
    sequence = SymbolSequence(seed: hashed)
  }
}
