/// What a hash or a signature is for. Its text is hashed first, so that bytes made for one use mean nothing in another.
///
/// Every label of the protocol stands here. None is the beginning of another, and a change of meaning takes a new
/// number at its end.
package struct DomainLabel: Sendable {
  /// `relaychat/<use>/<version>`, ASCII.
  package let text: StaticString

  private init(_ text: StaticString) {
    self.text = text
  }

  /// Signing key to peer ID.
  package static let peerID = DomainLabel("relaychat/id/1")
  /// Signature of a card.
  package static let card = DomainLabel("relaychat/card/1")
  /// Identified region of a packet to its ID.
  package static let packet = DomainLabel("relaychat/packet/1")
  /// Signature of a packet by its origin.
  package static let packetSignature = DomainLabel("relaychat/packet-signature/1")

  /// Two peer IDs to the digits that people compare.
  package static let fingerprint = DomainLabel("relaychat/fingerprint/1")

  /// Prologue of the handshake of a link.
  package static let link = DomainLabel("relaychat/link/1")
  /// Prologue of the seal of a personal message.
  package static let personal = DomainLabel("relaychat/personal/1")

  /// Key-encryption key to wrapping key and commitment of a slot of the slot file.
  package static let keySlot = DomainLabel("relaychat/key-slot/1")
  /// Checksum and code of the slot file.
  package static let keySlots = DomainLabel("relaychat/key-slots/1")
  /// Key-encryption key to wrapping key and commitment of the slot of a backup.
  package static let backupSlot = DomainLabel("relaychat/backup-slot/1")
  /// What the records of a backup are bound to.
  package static let backup = DomainLabel("relaychat/backup/1")
  /// Checksum of the mark of a wipe.
  package static let wipe = DomainLabel("relaychat/wipe/1")
  /// Key of one value of the sealed store.
  package static let storeRecord = DomainLabel("relaychat/store-record/1")
  /// Key of the header of the sealed store.
  package static let storeHeader = DomainLabel("relaychat/store-header/1")
  /// What one row adds to the summary of the sealed store.
  package static let storeSummary = DomainLabel("relaychat/store-summary/1")
  /// Which data key a sealed store belongs to.
  package static let storeKey = DomainLabel("relaychat/store-key/1")

  /// Data key and store identifier to the keys of the archive, and what its rows are bound to.
  package static let archive = DomainLabel("relaychat/archive/1")

  /// All of them, for the test that holds the rule above.
  package static let all: [DomainLabel] = [
    .peerID, .card, .packet, .packetSignature, .fingerprint, .link, .personal, .keySlot, .keySlots, .backupSlot,
    .backup, .wipe, .storeRecord, .storeHeader, .storeSummary, .storeKey, .archive,
  ]
}
