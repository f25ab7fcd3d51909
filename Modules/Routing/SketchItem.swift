internal import WireFormat

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

/// The difference of the same symbol of two sets is the symbol of the difference of the sets. One that holds a single key
/// shows it: the check tells it from several that look like one, but for a chance of 2^-32 and a count that is off by a
/// multiple of 256, each time it is tried; a key that is recovered wrongly is a request that nobody can answer.
extension CodedSymbol {
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
