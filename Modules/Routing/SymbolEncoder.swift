package import WireFormat

/// Makes the coded symbols of a set, as many as are asked for, one batch after the other.
///
/// The work for the first `m` symbols of `n` keys is about 2·n·ln m steps; 32 bytes a key are held. Pure.
package struct SymbolEncoder: Sendable {
  private var items: [SketchItem]
  private let hash: KeyedHash
  private var start = 0

  /// - Parameter hash: of this link; who does not know it cannot choose keys that hide each other.
  package init(_ keys: some Sequence<UInt64>, hash: KeyedHash) {
    items = keys.map { SketchItem($0, hash) }
    self.hash = hash
  }

  /// Symbols made so far.
  package var made: Int { start }

  /// The next symbols.
  package mutating func next(_ count: Int) -> [CodedSymbol] {
    var symbols = [CodedSymbol](repeating: CodedSymbol(), count: max(0, count))
    let end = start + symbols.count
    for place in items.indices {
      while items[place].sequence.index < end {
        symbols[items[place].sequence.index - start].add(items[place])
        items[place].sequence.advance()
      }
    }
    start = end
    return symbols
  }

  /// Goes to any symbol, of the same set as before.
  package mutating func seek(to index: Int) {
    if index < start { self = SymbolEncoder(items.map(\.key), hash: hash) }
    for place in items.indices {
      while items[place].sequence.index < index { items[place].sequence.advance() }
    }
    start = index
  }
}
