internal import Bytes

/// A point of the curve, checked when it was imported. Cards carry it compressed, Noise messages uncompressed.
package struct P256PublicKey: Hashable, Sendable {
  let point: P256Point

  init(_ point: P256Point) { self.point = point }

  /// Refuses what is not 33 bytes of a compressed point on the curve.
  package init(_ bytes: RawSpan) throws(PrimitiveError) {
    point = try P256Point(bytes, byteCount: P256.publicKeyByteCount)
  }

  package init(_ bytes: [UInt8]) throws(PrimitiveError) {
    try self.init(bytes.rawSpan)
  }

  /// Refuses what is not 65 bytes of an uncompressed point on the curve (SEC 1 section 2.3.4).
  package init(uncompressed bytes: RawSpan) throws(PrimitiveError) {
    point = try P256Point(bytes, byteCount: P256.uncompressedKeyByteCount)
  }

  /// The compressed point, 33 bytes: 2 or 3, then x big endian.
  package var bytes: [UInt8] { point.compressed }

  /// The uncompressed point, 65 bytes: 4, then x and y big endian.
  package var uncompressedBytes: [UInt8] { point.bytes }

  package static func == (one: P256PublicKey, other: P256PublicKey) -> Bool {
    one.point === other.point || one.point.bytes == other.point.bytes
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(point.bytes)
  }
}
