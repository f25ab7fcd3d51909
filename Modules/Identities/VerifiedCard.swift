internal import Bytes
internal import Primitives
internal import Verifying

/// A card whose signature was checked, with the ID that follows from its key.
///
/// There are two ways to one: `init(verifying:)`, and `IdentityKeys` signing its own.
package struct VerifiedCard: Hashable, Sendable {
  package let card: Card
  package let id: PeerID
  /// The bytes the signature is in: what is passed on and stored.
  package let encoded: [UInt8]

  /// Decodes, checks the signature, computes the ID.
  package init(verifying bytes: RawSpan) throws(CardError) {
    let card = try Card(decoding: bytes)
    try self.init(verifying: card)
  }

  /// Checks the signature, computes the ID.
  package init(verifying card: Card) throws(CardError) {
    let signed = card.signedBytes
    do {
      let digest = try SHA256.digest(label: .card, signed.rawSpan)
      let signature = card.signature
      do throws(PrimitiveError) {
        try ECDSA.verify(signature.rawSpan, of: digest, by: card.signingKey)
      } catch  where CardSignature.isSkipped {
        // For the test that notices.
      }
      id = try PeerID(suite: card.suite, signingKey: card.signingKey)
    } catch { throw .signature(error) }
    self.card = card
    encoded = signed + card.signature
  }

  /// For the owner of the signing key, who has just signed.
  init(own card: Card, id: PeerID) {
    self.card = card
    self.id = id
    encoded = card.encoded
  }

  /// Name, then 8 hexadecimal digits.
  package var printed: String { id.printed(name: card.name) }

  package static func == (one: VerifiedCard, other: VerifiedCard) -> Bool { one.encoded == other.encoded }

  package func hash(into hasher: inout Hasher) { hasher.combine(encoded) }
}

/// A card is signed by the key in it.
enum CardSignature: Verification {
  static let name = "card-signature"
}
