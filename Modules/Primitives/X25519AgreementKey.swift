internal import Bytes
internal import CCrypto

/// A private key for X25519 (RFC 7748). libcrypto wipes the scalar when the last owner goes.
package struct X25519AgreementKey: ~Copyable, Sendable {
  /// Size of keys and of shared secrets in bytes.
  package static let byteCount = 32

  private let key: RawKey
  package let publicKey: X25519PublicKey

  /// A new key.
  package init(generatedFrom random: RandomSource) throws(PrimitiveError) {
    let scalar = try random.secret(Self.byteCount)
    try self.init(scalar: scalar.bytes)
  }

  /// A key from its 32 bytes; any are one.
  package init(scalar: RawSpan) throws(PrimitiveError) {
    let key = try RawKey(private: scalar, kind: EVP_PKEY_X25519, byteCount: Self.byteCount)
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    var count = bytes.count
    guard unsafe EVP_PKEY_get_raw_public_key(key.pointer, &bytes, &count) == 1, count == Self.byteCount else {
      throw .taken(from: .importPrivate)
    }
    let publicKey = try X25519PublicKey(bytes.rawSpan)
    self.init(key: key, publicKey: publicKey)
  }

  private init(key: RawKey, publicKey: X25519PublicKey) {
    self.key = key
    self.publicKey = publicKey
  }

  /// Another owner of the same key; the scalar is not copied.
  package borrowing func shared() -> X25519AgreementKey { X25519AgreementKey(key: key, publicKey: publicKey) }

  /// The shared secret with `peer`, 32 bytes. A point of low order, which gives the same secret to everybody, is an
  /// error (RFC 7748 section 6.1).
  package borrowing func agree(with peer: X25519PublicKey) throws(PrimitiveError) -> Secret {
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else { throw .taken(from: .agree) }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_derive_init(context) == 1,
      unsafe EVP_PKEY_derive_set_peer_ex(context, peer.key.pointer, 0) == 1
    else { throw .taken(from: .agree) }
    return try Secret(count: Self.byteCount) { (span) throws(PrimitiveError) in
      let isDerived = unsafe span.withUnsafeMutableBytes { bytes in
        var count = bytes.count
        let result = unsafe EVP_PKEY_derive(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &count)
        return result == 1 && count == Self.byteCount
      }
      guard isDerived else {
        // With a key and a peer in place nothing else makes X25519 fail.
        ERR_clear_error()
        throw .lowOrderPoint
      }
    }
  }
}

/// A public key for X25519: 32 bytes, any of which libcrypto takes.
package struct X25519PublicKey: Hashable, Sendable {
  package let bytes: [UInt8]
  let key: RawKey

  /// Refuses what is not 32 bytes.
  package init(_ bytes: RawSpan) throws(PrimitiveError) {
    key = try RawKey(public: bytes, kind: EVP_PKEY_X25519, byteCount: X25519AgreementKey.byteCount)
    self.bytes = [UInt8](copying: bytes)
  }

  package static func == (one: X25519PublicKey, other: X25519PublicKey) -> Bool { one.bytes == other.bytes }

  package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}
