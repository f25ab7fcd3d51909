/// One coded symbol of a set of 64-bit keys: what the keys in it add up to. 13 bytes on the wire: count 1 · sum 8 · check 4.
package struct CodedSymbol: Sendable, Hashable {
  package static let byteCount = 13

  /// Keys in it, modulo 256.
  package var count: UInt8
  /// Their exclusive or.
  package var sum: UInt64
  /// The exclusive or of their keyed hashes, as far as they fit.
  package var check: UInt32

  package init(count: UInt8 = 0, sum: UInt64 = 0, check: UInt32 = 0) {
    self.count = count
    self.sum = sum
    self.check = check
  }

  package var isEmpty: Bool { count == 0 && sum == 0 && check == 0 }
}
