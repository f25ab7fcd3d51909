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
    guard let bytes = Hex.decode(hex), bytes.count == 16 else { return nil }
    self.init(
      high: bytes[..<8].reduce(0) { $0 << 8 | UInt64($1) }, low: bytes[8...].reduce(0) { $0 << 8 | UInt64($1) })
  }

  package var description: String { Hex.encode(high) + Hex.encode(low) }
}
