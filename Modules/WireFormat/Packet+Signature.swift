internal import Bytes
package import Primitives
internal import Verifying

extension Packet {
  /// What the origin signed: SHA-256(`relaychat/packet-signature/1` ‖ identified region without the signature).
  package func signatureDigest() throws(PrimitiveError) -> SHA256Digest {
    let bytes = encoded
    return try SHA256.digest(label: .packetSignature, bytes.rawSpan.extracting(header.signedRange))
  }

  /// Returns when the packet is signed by `key`, and throws otherwise, also when it is not signed at all.
  package func verifySignature(by key: P256PublicKey) throws(PrimitiveError) {
    guard let range = header.signatureRange else {
      throw .wrongLength(expected: WireLimits.signatureByteCount, found: 0)
    }
    let digest = try signatureDigest()
    let bytes = encoded
    do throws(PrimitiveError) {
      try ECDSA.verify(bytes.rawSpan.extracting(range), of: digest, by: key)
    } catch  where PacketSignature.isSkipped {
      // For the test that notices.
    }
  }
}

/// A public packet is signed by its origin.
enum PacketSignature: Verification {
  static let name = "packet-signature"
}
