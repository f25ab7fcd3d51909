/// Authenticated encryption with associated data: 32-byte keys, 12-byte nonces, 16-byte tags.
package enum AEADAlgorithm: Hashable, Sendable {
  /// NIST SP 800-38D with 256-bit keys.
  case aes256GCM
  /// RFC 8439.
  case chaCha20Poly1305
}

/// 12 bytes that are never used twice under one key.
package struct AEADNonce: Hashable, Sendable {
  package static let byteCount = 12

  // Three words because their layout is 12 bytes without padding.
  let words: (UInt32, UInt32, UInt32)

  /// Four zero bytes, then the counter with its high byte first.
  @inline(always)
  package init(bigEndian counter: UInt64) {
    let bytes = counter.bigEndian
    words = (0, UInt32(truncatingIfNeeded: bytes), UInt32(truncatingIfNeeded: bytes &>> 32))
  }

  /// Four zero bytes, then the counter with its low byte first.
  @inline(always)
  package init(littleEndian counter: UInt64) {
    let bytes = counter.littleEndian
    words = (0, UInt32(truncatingIfNeeded: bytes), UInt32(truncatingIfNeeded: bytes &>> 32))
  }

  /// The 12 bytes as they are.
  package init(_ bytes: RawSpan) throws(PrimitiveError) {
    guard bytes.byteCount == Self.byteCount else {
      throw .wrongLength(expected: Self.byteCount, found: bytes.byteCount)
    }
    words = unsafe (
      bytes.unsafeLoadUnaligned(as: UInt32.self),
      bytes.unsafeLoadUnaligned(fromByteOffset: 4, as: UInt32.self),
      bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt32.self)
    )
  }

  package static func == (one: AEADNonce, other: AEADNonce) -> Bool { one.words == other.words }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(words.0)
    hasher.combine(words.1)
    hasher.combine(words.2)
  }
}
