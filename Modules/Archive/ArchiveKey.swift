internal import Bytes
package import Primitives

/// The keys of the archive: one that seals rows and one that makes the tokens by which they are found. They live as
/// long as the archive and are wiped with it; no key is derived for a single row, and nothing opened is kept.
///
/// Both are expanded from the data key by HKDF-SHA256 (RFC 5869), whose salt is the identifier of the store, so a row of
/// another store does not open whatever its place. Nonces are 96 random bits: after 2³² rows under one key the chance
/// that two are equal is 2⁻³³, which is the bound of NIST SP 800-38D section 8.3.
package struct ArchiveKey: ~Copyable, Sendable {
  var cipher: AEADKey
  let index: Secret
  let random: RandomSource

  /// - Parameter dataKey: lent, and not kept.
  package init(
    dataKey: borrowing Secret, storeID: [UInt8], random: RandomSource = .system
  ) throws(PrimitiveError) {
    let label = DomainLabel.archive.text.withUTF8Buffer { unsafe [UInt8]($0) }
    let rows = try HKDFSHA256.derive(
      AEADKey.keyByteCount, from: dataKey.bytes, salt: storeID.rawSpan, info: (label + Array(" rows".utf8)).rawSpan)
    let cipher = try AEADKey(.aes256GCM, key: rows.bytes)
    let index = try HKDFSHA256.derive(
      32, from: dataKey.bytes, salt: storeID.rawSpan, info: (label + Array(" index".utf8)).rawSpan)
    self.cipher = cipher
    self.index = index
    self.random = random
  }
}
