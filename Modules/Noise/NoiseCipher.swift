package import Primitives

/// How a cipher is used in Noise (revision 34 section 12): what it is called and how a counter becomes its nonce.
package protocol NoiseCipher: Sendable {
  /// As in a protocol name.
  static var name: String { get }
  static var algorithm: AEADAlgorithm { get }
  static func nonce(_ counter: UInt64) -> AEADNonce
  /// The key that the cipher is given for a Noise key, where that is another one. XChaChaPoly, for one, is ChaChaPoly
  /// under a key of its own.
  static func innerKey(_ key: RawSpan) throws(PrimitiveError) -> Secret?
}

extension NoiseCipher {
  package static func innerKey(_ key: RawSpan) throws(PrimitiveError) -> Secret? { nil }
}

/// AES-256-GCM; the nonce is four zero bytes and the counter with its high byte first.
package enum AESGCM: NoiseCipher {
  package static let name = "AESGCM"
  package static let algorithm = AEADAlgorithm.aes256GCM
  package static func nonce(_ counter: UInt64) -> AEADNonce { AEADNonce(bigEndian: counter) }
}

/// ChaCha20-Poly1305; the nonce is four zero bytes and the counter with its low byte first.
package enum ChaChaPoly: NoiseCipher {
  package static let name = "ChaChaPoly"
  package static let algorithm = AEADAlgorithm.chaCha20Poly1305
  package static func nonce(_ counter: UInt64) -> AEADNonce { AEADNonce(littleEndian: counter) }
}
