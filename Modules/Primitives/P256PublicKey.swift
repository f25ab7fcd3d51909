internal import Bytes

/// A point of the curve, checked when it was imported: 33 bytes, compressed.
package struct P256PublicKey: Hashable, Sendable {
  let handle: P256KeyHandle

  /// Refuses what is not 33 bytes of a compressed point on the curve.
  package init(_ bytes: RawSpan) throws(PrimitiveError) {
    handle = try P256KeyHandle.importPublic(bytes)
  }

  package init(_ bytes: [UInt8]) throws(PrimitiveError) {
    handle = try P256KeyHandle.importPublic(bytes.rawSpan)
  }

  /// The compressed point, 33 bytes: 2 or 3, then x big endian.
  package var bytes: [UInt8] { handle.publicBytes }

  package static func == (one: P256PublicKey, other: P256PublicKey) -> Bool {
    one.handle === other.handle || one.bytes == other.bytes
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(bytes)
  }
}
