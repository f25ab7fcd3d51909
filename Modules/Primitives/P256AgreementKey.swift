internal import Bytes
internal import CCrypto

/// A private key for key agreement. It never signs: what signs and what agrees are different types, so that neither
/// is used for the other. The scalar is wiped when its last owner goes.
package struct P256AgreementKey: ~Copyable, Sendable {
  /// Size of a shared secret in bytes.
  package static let sharedByteCount = 32

  private let scalar: P256Scalar
  package let publicKey: P256PublicKey

  /// A new key.
  package init(generatedFrom random: RandomSource) throws(PrimitiveError) {
    let curve = try P256Curve.get(.importPrivate)
    let scalar = try P256Scalar.generate(from: random, on: curve)
    let point = try scalar.publicPoint(on: curve)
    self.init(scalar: scalar, publicKey: P256PublicKey(point))
  }

  /// A key from its 32-byte big-endian scalar.
  package init(scalar: RawSpan) throws(PrimitiveError) {
    let curve = try P256Curve.get(.importPrivate)
    let number = try P256Scalar(scalar, on: curve)
    let point = try number.publicPoint(on: curve)
    self.init(scalar: number, publicKey: P256PublicKey(point))
  }

  private init(scalar: P256Scalar, publicKey: P256PublicKey) {
    self.scalar = scalar
    self.publicKey = publicKey
  }

  /// Another owner of the same key; the scalar is not copied.
  package borrowing func shared() -> P256AgreementKey { P256AgreementKey(scalar: scalar, publicKey: publicKey) }

  /// The x coordinate of the shared point, 32 bytes big endian (SP 800-56A section 5.7.1.2).
  ///
  /// The peer's point is on the curve because `P256PublicKey` says so, and the curve's cofactor is 1: there is no small
  /// subgroup to fall into.
  package borrowing func agree(with peer: P256PublicKey) throws(PrimitiveError) -> Secret {
    let curve = try P256Curve.get(.agree)
    guard let product = unsafe EC_POINT_new(curve.group) else { throw .taken(from: .agree) }
    defer { unsafe EC_POINT_clear_free(product) }
    guard let x = unsafe BN_secure_new() else { throw .taken(from: .agree) }
    defer { unsafe BN_clear_free(x) }
    guard unsafe EC_POINT_mul(curve.group, product, nil, peer.point.pointer, scalar.pointer, nil) == 1,
      unsafe EC_POINT_get_affine_coordinates(curve.group, product, x, nil, nil) == 1
    else { throw .taken(from: .agree) }
    return try Secret(count: Self.sharedByteCount) { (span) throws(PrimitiveError) in
      let written = unsafe span.withUnsafeMutableBytes {
        unsafe BN_bn2binpad(x, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count))
      }
      guard written == Self.sharedByteCount else { throw .taken(from: .agree) }
    }
  }

  /// The 32-byte big-endian scalar, in wiped memory, for the store of keys.
  package borrowing func exportScalar() throws(PrimitiveError) -> Secret {
    try scalar.export()
  }
}
