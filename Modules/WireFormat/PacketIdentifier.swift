internal import Bytes
package import Primitives

/// Computes packet IDs with one hash context. One owner; `id` allocates nothing.
package struct PacketIdentifier: ~Copyable, Sendable {
  private var hasher: SHA256Hasher

  package init() throws(PrimitiveError) {
    hasher = try SHA256Hasher()
  }

  /// The ID of `packet`, whose header is `header`.
  package mutating func id(of packet: RawSpan, header: PacketHeader) throws(PrimitiveError) -> PacketID {
    guard packet.byteCount == header.byteCount else {
      throw .wrongLength(expected: header.byteCount, found: packet.byteCount)
    }
    let digest = try hasher.digest(label: .packet, packet.extracting(header.identifiedRange))
    return PacketID(high: digest.first, low: digest.second)
  }

  package mutating func id(of packet: Packet) throws(PrimitiveError) -> PacketID {
    let bytes = packet.encoded
    return try id(of: bytes.rawSpan, header: packet.header)
  }
}
