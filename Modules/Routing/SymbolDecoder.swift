package import WireFormat

/// Finds what two sets differ in, from the coded symbols of the other one and our own set.
///
/// About 1.35 symbols for each difference are needed when there are many, up to 1.75 and a few more when there are few; how
/// many there are need not be known before. Any symbols, of anybody, end in a result or in `isDecoded` staying false: what is found
/// is bounded by the symbols taken. Pure.
package struct SymbolDecoder: Sendable {
  /// Keys of the other set that ours lacks, and the other way round; complete when `isDecoded`.
  package private(set) var missingHere: [UInt64] = []
  package private(set) var missingThere: [UInt64] = []

  private struct Found: Sendable {
    var item: SketchItem
    /// It is in the other set, so it is taken out of the symbols; else put in.
    var isTheirs: Bool
  }

  private let hash: KeyedHash
  private var ours: SymbolEncoder
  private var symbols: [CodedSymbol] = []
  private var found: [Found] = []
  private var candidates: [Int] = []
  /// More keys came out than symbols went in: the symbols are of no set.
  package private(set) var isNonsense = false

  package init(_ keys: some Sequence<UInt64>, hash: KeyedHash) {
    self.hash = hash
    ours = SymbolEncoder(keys, hash: hash)
  }

  /// Symbols taken so far; the next one is that of this index.
  package var taken: Int { symbols.count }

  /// Every difference is known: symbol 0, which holds every key, is empty.
  package var isDecoded: Bool { symbols.first?.isEmpty == true && !isNonsense }

  /// Takes the next symbols of the other set.
  package mutating func take(_ theirs: some Collection<CodedSymbol>) {
    guard !isNonsense else { return }
    let start = symbols.count
    let own = ours.next(theirs.count)
    symbols.reserveCapacity(start + own.count)
    for (their, our) in zip(theirs, own) {
      var symbol = their
      symbol.subtract(our)
      symbols.append(symbol)
    }
    // What is known already does not come out a second time.
    for place in found.indices { follow(place) }
    candidates.append(contentsOf: start..<symbols.count)
    peel()
  }

  private mutating func peel() {
    while let index = candidates.popLast() {
      let symbol = symbols[index]
      guard symbol.count == 1 || symbol.count == 255 else { continue }
      let item = SketchItem(symbol.sum, hash)
      guard item.check == symbol.check else { continue }
      guard found.count < symbols.count else {
        isNonsense = true
        return
      }
      let isTheirs = symbol.count == 1
      if isTheirs { missingHere.append(item.key) } else { missingThere.append(item.key) }
      found.append(Found(item: item, isTheirs: isTheirs))
      follow(found.count - 1)
    }
  }

  /// Takes a key out of every symbol there is that it is part of.
  private mutating func follow(_ place: Int) {
    while found[place].item.sequence.index < symbols.count {
      let index = found[place].item.sequence.index
      if found[place].isTheirs {
        symbols[index].remove(found[place].item)
      } else {
        symbols[index].add(found[place].item)
      }
      found[place].item.sequence.advance()
      candidates.append(index)
    }
  }
}
