internal import Bytes
package import Primitives

/// The private keys of this node: one that signs, one that agrees, and prekeys that come and go. One owner.
///
/// Every time here is in milliseconds since 1970. `rotateIfDue` is to be called at the start and at least once an
/// hour; a prekey is made every 24 h, offered for sealing for 48 h, and its private half erased after 72 h.
package struct IdentityKeys: ~Copyable, Sendable {
  package let id: PeerID
  let signing: P256SigningKey
  let agreement: P256AgreementKey
  /// Oldest first, never empty.
  private(set) var prekeys: [DatedPrekey]
  private(set) var nextPrekeyID: UInt32
  private let random: RandomSource

  struct DatedPrekey: Sendable {
    let prekey: OwnPrekey
    /// When it was made; moved back when the clock is, so that it is never kept longer than promised.
    var created: UInt64
  }

  /// A new identity. Only for a node that has none: a new identity is another peer.
  package init(generatedFrom random: RandomSource, now: UInt64) throws(PrimitiveError) {
    let signing = try P256SigningKey(generatedFrom: random)
    let agreement = try P256AgreementKey(generatedFrom: random)
    let first = try Self.makePrekey(id: 1, from: random, now: now)
    let id = try PeerID(signingKey: signing.publicKey)
    self.init(
      id: id, signing: signing, agreement: agreement, prekeys: [first], nextPrekeyID: 2, random: random)
  }

  init(
    id: PeerID, signing: consuming P256SigningKey, agreement: consuming P256AgreementKey, prekeys: [DatedPrekey],
    nextPrekeyID: UInt32, random: RandomSource
  ) {
    self.id = id
    self.signing = signing
    self.agreement = agreement
    self.prekeys = prekeys
    self.nextPrekeyID = nextPrekeyID
    self.random = random
  }

  package var signingKey: P256PublicKey { signing.publicKey }
  package var agreementKey: P256PublicKey { agreement.publicKey }

  /// Another owner of the agreement key: the static key of links, and of the seal of personal messages.
  package func sharedAgreementKey() -> P256AgreementKey { agreement.shared() }

  /// The prekey that the card offers.
  package var currentPrekey: Prekey { prekeys[prekeys.count - 1].prekey.published }

  /// The private half for a message sealed to `id`, or nothing when it was erased.
  package func prekey(id: UInt32) -> OwnPrekey? {
    prekeys.last { $0.prekey.id == id }?.prekey
  }

  /// IDs of the prekeys whose private half is kept, oldest first.
  package var prekeyIDs: [UInt32] { prekeys.map(\.prekey.id) }

  /// Erases what is past its time and makes a prekey when the newest is a day old. True when the keys changed so that
  /// they are to be stored, and a new card is due.
  package mutating func rotateIfDue(now: UInt64) throws(PrimitiveError) -> Bool {
    let now = min(now, Self.latestCreation)
    for index in prekeys.indices where prekeys[index].created > now { prekeys[index].created = now }
    let newest = prekeys[prekeys.count - 1].created
    let isDue = now - newest >= IdentitiesLimits.prekeyInterval
    if isDue {
      let made = try Self.makePrekey(id: nextPrekeyID, from: random, now: now)
      prekeys.append(made)
      nextPrekeyID &+= 1
    }
    prekeys.removeAll { now - $0.created >= IdentitiesLimits.prekeyRetention }
    if prekeys.count > IdentitiesLimits.prekeyCount {
      prekeys.removeFirst(prekeys.count - IdentitiesLimits.prekeyCount)
    }
    return isDue
  }

  /// The time of day was set: what was `old` is `new`. Every prekey is moved along, so that it lives as long as was
  /// promised, by the time that has really passed. A new card is due.
  package mutating func clockStepped(from old: UInt64, to new: UInt64) {
    func moved(_ time: UInt64) -> UInt64 {
      let (sum, isOver) = time.addingReportingOverflow(new)
      return min(isOver || sum < old ? 0 : sum - old, Self.latestCreation)
    }
    for index in prekeys.indices {
      let own = prekeys[index].prekey
      let created = moved(prekeys[index].created)
      prekeys[index] = DatedPrekey(
        prekey: OwnPrekey(key: own.key.shared(), id: own.id, sealUntil: created + IdentitiesLimits.prekeySealing),
        created: created)
    }
  }

  /// 64 bytes over `label` ‖ `bytes`.
  package func sign(_ label: DomainLabel, _ bytes: RawSpan) throws(PrimitiveError) -> [UInt8] {
    try ECDSA.sign(SHA256.digest(label: label, bytes), with: signing)
  }

  /// This node's card. `sequence` must be above every one used before with these keys.
  package func makeCard(
    name: PeerName, icon: PeerIcon, capabilities: Capabilities, sequence: UInt64, now: UInt64
  ) throws(PrimitiveError) -> VerifiedCard {
    func card(_ signature: [UInt8]) -> Card {
      Card(
        suite: .p256, signingKey: signingKey, agreementKey: agreementKey, sequence: sequence,
        issued: min(now, 0xFFFF_FFFF_FFFF), prekey: currentPrekey, capabilities: capabilities, name: name, icon: icon,
        signature: signature)
    }
    let signed = card([]).signedBytes
    let signature = try sign(.card, signed.rawSpan)
    return VerifiedCard(own: card(signature), id: id)
  }

  /// The last time whose `sealUntil` still fits six bytes.
  private static let latestCreation = 0xFFFF_FFFF_FFFF - IdentitiesLimits.prekeySealing

  private static func makePrekey(
    id: UInt32, from random: RandomSource, now: UInt64
  ) throws(PrimitiveError) -> DatedPrekey {
    let limited = min(now, latestCreation)
    let key = try P256AgreementKey(generatedFrom: random)
    let prekey = OwnPrekey(key: key, id: id, sealUntil: limited + IdentitiesLimits.prekeySealing)
    return DatedPrekey(prekey: prekey, created: limited)
  }
}
