/// The set of algorithms an identity is made of. It is hashed into the peer ID: another suite is another peer.
package enum Suite: UInt8, Sendable {
  /// P-256, HKDF-SHA256, AES-256-GCM, ECDSA with 64-byte low-s signatures.
  case p256 = 1
}
