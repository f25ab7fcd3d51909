package import Bytes
package import Primitives

/// Who a peer is: the first 16 bytes of SHA-256(`relaychat/id/1` ‖ suite ‖ compressed signing key).
///
/// It certifies itself: with another key it is another peer, whatever the name says.
package struct PeerID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Bytes 0–7, big endian.
  package let high: UInt64
  /// Bytes 8–15, big endian.
  package let low: UInt64

  package static let byteCount = 16

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// The ID that belongs to a signing key.
  package init(suite: Suite = .p256, signingKey: P256PublicKey) throws(PrimitiveError) {
    var hasher = try SHA256Hasher()
    try hasher.update(label: .peerID)
    try hasher.update([suite.rawValue])
    try hasher.update(signingKey.bytes)
    let digest = try hasher.finish()
    self.init(high: digest.first, low: digest.second)
  }

  /// Reads 16 bytes.
  package init(from reader: inout ByteReader) throws(ByteError) {
    guard reader.remaining >= Self.byteCount else {
      throw ByteError(needed: Self.byteCount, available: reader.remaining)
    }
    high = try reader.u64()
    low = try reader.u64()
  }

  /// Nothing unless `hex` is exactly 32 hexadecimal digits.
  package init?(hex: some StringProtocol) {
    guard let bytes = Hex.decode(hex), bytes.count == Self.byteCount else { return nil }
    var reader = ByteReader(bytes.rawSpan)
    do { try self.init(from: &reader) } catch { return nil }
  }

  /// The opaque address on the air. In wire version 1 the first 8 bytes; nothing may rely on that.
  package var tag: UInt64 { high }

  /// How this peer writes itself into a route: the first 4 bytes. Two peers may share it.
  package var routeEntry: UInt32 { UInt32(truncatingIfNeeded: high &>> 32) }

  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: Self.byteCount)
    writer.u64(high)
    writer.u64(low)
    return writer.bytes
  }

  /// All 32 hexadecimal digits.
  package var description: String { Hex.encode(high) + Hex.encode(low) }

  /// The first 8 hexadecimal digits, what is printed behind a name.
  package var shortHex: String { String(description.prefix(8)) }

  /// A peer in print: the name if there is one that is not like an ID, then 8 hexadecimal digits.
  package func printed(name: PeerName?) -> String {
    guard let name, !name.isLikeID else { return shortHex }
    return "\(name.text) \(shortHex)"
  }

  package static func < (one: PeerID, other: PeerID) -> Bool {
    one.high == other.high ? one.low < other.low : one.high < other.high
  }
}
