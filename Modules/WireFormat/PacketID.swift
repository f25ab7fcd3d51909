internal import Bytes

/// Which packet it is: the first 16 bytes of SHA-256(`relaychat/packet/1` ‖ identified region), recomputed by
/// everyone who receives it and never sent.
package struct PacketID: Hashable, Sendable, CustomStringConvertible {
  /// Bytes 0–7, big endian.
  package let high: UInt64
  /// Bytes 8–15, big endian.
  package let low: UInt64

  @inlinable
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Nothing unless `hex` is exactly 32 hexadecimal digits.
  package init?(hex: some StringProtocol) {
    guard let bytes = Hex.decode(hex), bytes.count == 16 else { return nil }
    var reader = ByteReader(bytes.rawSpan)
    do {
      high = try reader.u64()
      low = try reader.u64()
    } catch { return nil }
  }

  /// The first 8 bytes: how the two ends of one link speak about a packet.
  @inlinable package var key: UInt64 { high }

  /// 32 hexadecimal digits.
  package var description: String { Hex.encode(high) + Hex.encode(low) }
}
