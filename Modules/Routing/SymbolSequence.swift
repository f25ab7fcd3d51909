/// In which coded symbols an item of a rateless set sketch takes part (Yang, Gilad and Alizadeh, "Practical Rateless Set
/// Reconciliation", 2024).
///
/// An item is part of symbol `i` with a chance of 2/(i + 2), so of symbol 0 always, and of the first `m` symbols in about
/// 2·ln m of them. From `i` on the chance that the next `g` symbols are all without it telescopes to
/// (i + 1)(i + 2) / ((i + g + 1)(i + g + 2)); the next one is found by setting that against a random number that only the item
/// and the salt decide. Both sides compute the same sequence on every machine: multiplication, division and square root
/// of IEEE 754 are exact to the last bit.
package struct SymbolSequence: Sendable {
  /// The symbol it is part of now; 0 at first.
  package private(set) var index: Int = 0
  private var state: UInt64

  /// - Parameter seed: a keyed hash of the item.
  package init(seed: UInt64) { state = seed }

  /// Goes on to the next symbol.
  package mutating func advance() {
    // The step and the mixing of SplitMix64.
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    mixed ^= mixed >> 31
    // In (0, 1]: the share of sequences that go further than the gap that is looked for.
    let share = (Double(mixed >> 11) + 1) / 0x1p53
    let middle = Double(index) + 1.5
    let next = ((middle * middle - 0.25) / share + 0.25).squareRoot() - 1.5
    guard next < Double(Self.end) else {
      index = Self.end
      return
    }
    index = max(index + 1, Int(next.rounded(.up)))
  }

  /// Beyond every symbol that is ever asked for.
  package static let end = 1 << 40
}
