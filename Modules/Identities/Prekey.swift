package import Primitives

/// The public half of a key that messages are sealed to for a day or two.
package struct Prekey: Hashable, Sendable {
  /// Tells its owner which private half to take.
  package let id: UInt32
  package let key: P256PublicKey
  /// Milliseconds since 1970 after which nobody seals to it.
  package let sealUntil: UInt64

  package init(id: UInt32, key: P256PublicKey, sealUntil: UInt64) {
    self.id = id
    self.key = key
    self.sealUntil = sealUntil
  }
}
