package import Bytes
package import Primitives

/// Why bytes are no card.
package enum CardError: Error, Equatable, Hashable, Sendable {
  /// A field is cut, or bytes follow the end.
  case bytes(ByteError)
  case unknownVersion(UInt8)
  case unknownSuite(UInt8)
  /// A key is no point of the curve.
  case key(PrimitiveError)
  /// Name or icon is not UTF-8.
  case notUnicode
  case name(PeerNameError)
  case icon(PeerIconError)
  /// The signature is not one of the card's own signing key.
  case signature(PrimitiveError)
}

/// What a peer publishes about itself, signed by its signing key. Its bytes, big endian:
///
///     0    version 1 · suite 1 · signing key 33 · agreement key 33 · sequence 8 · issued 6
///     82   prekey: id 4 · key 33 · seal until 6
///     125  capabilities 4
///     129  name length 1 · name · icon length 1 · icon
///     …    signature 64 over `relaychat/card/1` ‖ everything before it
///
/// Times are milliseconds since 1970. There is one encoding of a card: decoding and encoding gives the same bytes.
/// A card proves nothing until it is a `VerifiedCard`.
package struct Card: Hashable, Sendable {
  package static let version: UInt8 = 1

  package let suite: Suite
  package let signingKey: P256PublicKey
  package let agreementKey: P256PublicKey
  /// A higher one replaces a lower one.
  package let sequence: UInt64
  /// By the issuer's clock; shown, never trusted.
  package let issued: UInt64
  package let prekey: Prekey
  package let capabilities: Capabilities
  package let name: PeerName
  package let icon: PeerIcon
  /// 64 bytes.
  package let signature: [UInt8]

  /// Smallest and largest card in bytes.
  package static let byteCounts =
    (fixedByteCount + 1)...(fixedByteCount + IdentitiesLimits.nameByteCount + IdentitiesLimits.iconByteCount)
  private static let fixedByteCount = 131 + P256.signatureByteCount

  init(
    suite: Suite, signingKey: P256PublicKey, agreementKey: P256PublicKey, sequence: UInt64, issued: UInt64,
    prekey: Prekey, capabilities: Capabilities, name: PeerName, icon: PeerIcon, signature: [UInt8]
  ) {
    self.suite = suite
    self.signingKey = signingKey
    self.agreementKey = agreementKey
    self.sequence = sequence
    self.issued = issued
    self.prekey = prekey
    self.capabilities = capabilities
    self.name = name
    self.icon = icon
    self.signature = signature
  }

  /// Reads exactly one card. Total: any bytes give a card or an error.
  package init(decoding bytes: RawSpan) throws(CardError) {
    let fields: CardFields
    do { fields = try CardFields(decoding: bytes) } catch { throw .bytes(error) }
    guard fields.version == Self.version else { throw .unknownVersion(fields.version) }
    guard let suite = Suite(rawValue: fields.suite) else { throw .unknownSuite(fields.suite) }
    guard let nameText = String(validating: fields.name, as: UTF8.self),
      let iconText = String(validating: fields.icon, as: UTF8.self)
    else { throw .notUnicode }
    self.suite = suite
    sequence = fields.sequence
    issued = fields.issued
    capabilities = Capabilities(rawValue: fields.capabilities)
    signature = fields.signature
    do { name = try PeerName(nameText) } catch { throw .name(error) }
    do { icon = try PeerIcon(iconText) } catch { throw .icon(error) }
    do {
      signingKey = try P256PublicKey(fields.signingKey)
      agreementKey = try P256PublicKey(fields.agreementKey)
      prekey = Prekey(
        id: fields.prekeyID, key: try P256PublicKey(fields.prekey), sealUntil: fields.sealUntil)
    } catch { throw .key(error) }
  }

  /// What the signature covers, without its label.
  var signedBytes: [UInt8] {
    var writer = ByteWriter(capacity: Self.byteCounts.upperBound)
    writer.u8(Self.version)
    writer.u8(suite.rawValue)
    writer.bytes(signingKey.bytes)
    writer.bytes(agreementKey.bytes)
    writer.u64(sequence)
    writer.u48(issued)
    writer.u32(prekey.id)
    writer.bytes(prekey.key.bytes)
    writer.u48(prekey.sealUntil)
    writer.u32(capabilities.rawValue)
    writer.u8(UInt8(truncatingIfNeeded: name.text.utf8.count))
    writer.bytes(name.text.utf8)
    writer.u8(UInt8(truncatingIfNeeded: icon.text.utf8.count))
    writer.bytes(icon.text.utf8)
    return writer.bytes
  }

  /// The card's bytes.
  package var encoded: [UInt8] { signedBytes + signature }
}
