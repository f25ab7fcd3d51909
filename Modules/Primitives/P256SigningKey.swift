internal import Bytes

/// A private key that signs. The scalar is wiped when the key goes.
package struct P256SigningKey: ~Copyable, Sendable {
  let handle: P256KeyHandle

  /// Holds no private half, so that it may be kept longer.
  package var publicKey: P256PublicKey { P256PublicKey(handle.point) }

  /// A new key.
  package init(generatedFrom random: RandomSource) throws(PrimitiveError) {
    let curve = try P256Curve.get(.importPrivate)
    handle = try P256KeyHandle(P256Scalar.generate(from: random, on: curve), on: curve)
  }

  /// A key from its 32-byte big-endian scalar.
  package init(scalar: RawSpan) throws(PrimitiveError) {
    let curve = try P256Curve.get(.importPrivate)
    handle = try P256KeyHandle(P256Scalar(scalar, on: curve), on: curve)
  }

  /// The 32-byte big-endian scalar, in wiped memory, for the store of keys.
  package borrowing func exportScalar() throws(PrimitiveError) -> Secret {
    try handle.exportScalar()
  }
}
