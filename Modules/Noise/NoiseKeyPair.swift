package import Primitives

/// A curve as Noise uses it (revision 34 section 12): a private key with its public one.
package protocol NoiseKeyPair: ~Copyable, Sendable {
  associatedtype PublicKey: Hashable, Sendable

  /// As in a protocol name.
  static var curveName: String { get }
  /// Bytes of a public key in a message (DHLEN of revision 34).
  static var publicKeyByteCount: Int { get }

  init(generatedFrom random: RandomSource) throws(PrimitiveError)
  var publicKey: PublicKey { get }
  /// The shared secret, 32 bytes.
  borrowing func agree(with peer: PublicKey) throws(PrimitiveError) -> Secret

  /// A public key as it stands in a message.
  static func encode(_ key: PublicKey) -> [UInt8]
  static func decode(_ bytes: RawSpan) throws(PrimitiveError) -> PublicKey
}

/// Public keys are uncompressed points, 65 bytes, and the secret is the x coordinate: what the public vectors for P-256
/// hold.
extension P256AgreementKey: NoiseKeyPair {
  package static var curveName: String { "P256" }
  package static var publicKeyByteCount: Int { P256.uncompressedKeyByteCount }
  package static func encode(_ key: P256PublicKey) -> [UInt8] { key.uncompressedBytes }
  package static func decode(_ bytes: RawSpan) throws(PrimitiveError) -> P256PublicKey {
    try P256PublicKey(uncompressed: bytes)
  }
}

extension X25519AgreementKey: NoiseKeyPair {
  package static var curveName: String { "25519" }
  package static var publicKeyByteCount: Int { byteCount }
  package static func encode(_ key: X25519PublicKey) -> [UInt8] { key.bytes }
  package static func decode(_ bytes: RawSpan) throws(PrimitiveError) -> X25519PublicKey {
    try X25519PublicKey(bytes)
  }
}
