internal import Bytes

/// Names a message for people: 16 random bytes that its author drew. Shown once is told by author and this.
package struct MessageID: Hashable, Sendable, CustomStringConvertible {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 32 hex digits.
  package init?(hex: some StringProtocol) {
    guard hex.utf8.count == 32, let high = UInt64(hex.prefix(16), radix: 16),
      let low = UInt64(hex.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }

  package var description: String { Hex.encode(high) + Hex.encode(low) }
}
