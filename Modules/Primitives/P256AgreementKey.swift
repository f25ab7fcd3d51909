internal import Bytes

/// A private key for key agreement. It never signs: what signs and what agrees are different types, so that neither
/// is used for the other. libcrypto wipes the scalar when the key goes.
package struct P256AgreementKey: ~Copyable, Sendable {
  let handle: P256KeyHandle

  /// Made as a key of its own, so that it does not keep the private half alive.
  package let publicKey: P256PublicKey

  /// A new key.
  package init(generatedFrom random: RandomSource) throws(PrimitiveError) {
    let handle = try P256KeyHandle.generate(from: random)
    publicKey = try handle.publicKey()
    self.handle = handle
  }

  /// A key from its 32-byte big-endian scalar.
  package init(scalar: RawSpan) throws(PrimitiveError) {
    let handle = try P256KeyHandle.importPrivate(scalar)
    publicKey = try handle.publicKey()
    self.handle = handle
  }

  /// The 32-byte big-endian scalar, in wiped memory, for the store of keys.
  package borrowing func exportScalar() throws(PrimitiveError) -> Secret {
    try handle.exportScalar()
  }
}
