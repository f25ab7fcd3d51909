internal import Bytes

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
  /// Size of a digest in bytes.
  package static let byteCount = 32

  /// The digest of `bytes`. For many digests keep a `SHA256Hasher`: it allocates once.
  package static func digest(_ bytes: RawSpan) throws(PrimitiveError) -> SHA256Digest {
    var hasher = try SHA256Hasher()
    try hasher.update(bytes)
    return try hasher.finish()
  }

  package static func digest(_ bytes: [UInt8]) throws(PrimitiveError) -> SHA256Digest {
    try digest(bytes.rawSpan)
  }

  /// The digest of `label` followed by `bytes`.
  package static func digest(label: DomainLabel, _ bytes: RawSpan) throws(PrimitiveError) -> SHA256Digest {
    var hasher = try SHA256Hasher()
    return try hasher.digest(label: label, bytes)
  }
}
