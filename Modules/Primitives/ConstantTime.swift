internal import CCrypto

/// Comparison of what an attacker may guess byte by byte.
package enum ConstantTime {
  /// Whether both hold the same bytes. Takes the same time wherever they differ; lengths are not secret.
  package static func areEqual(_ one: RawSpan, _ other: RawSpan) -> Bool {
    guard one.byteCount == other.byteCount else { return false }
    guard one.byteCount > 0 else { return true }
    return unsafe one.withUnsafeBytes { one in
      unsafe other.withUnsafeBytes { unsafe CRYPTO_memcmp(one.baseAddress, $0.baseAddress, one.count) == 0 }
    }
  }
}
