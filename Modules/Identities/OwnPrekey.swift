package import Primitives

/// A prekey of our own with its private half, which libcrypto wipes when the last holder lets go.
package final class OwnPrekey: Sendable {
  package let key: P256AgreementKey
  package let id: UInt32
  /// Milliseconds since 1970 after which nobody may seal to it: what the card said.
  package let sealUntil: UInt64

  init(key: consuming P256AgreementKey, id: UInt32, sealUntil: UInt64) {
    self.key = key
    self.id = id
    self.sealUntil = sealUntil
  }

  package var published: Prekey { Prekey(id: id, key: key.publicKey, sealUntil: sealUntil) }
}
