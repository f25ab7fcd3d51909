package import Identities

/// A change of a peer that people are told.
package struct PeerChange: Sendable, Equatable {
  package enum Kind: String, Sendable {
    /// Never heard before.
    case appeared
    /// Heard again after silence.
    case returned
    /// Not heard for too long.
    case silent
    /// Its card has another name or icon.
    case renamed
    /// Two different cards of one sequence number were seen.
    case equivocated
  }

  package var kind: Kind
  package var peer: PeerID
  package var name: String
  package var icon: String

  package init(kind: Kind, peer: PeerID, name: String, icon: String) {
    self.kind = kind
    self.peer = peer
    self.name = name
    self.icon = icon
  }
}

/// What a session tells clients.
package enum SessionEvent: Sendable {
  /// A message of another came, or one of ours was accepted.
  case message(StoredMessage)
  case state(MessageID, MessageState)
  case peer(PeerChange)
  /// Somebody with another key bears the name of this contact now, its `rival`: a stranger or another contact. Told once
  /// for each.
  case contactChanged(Contact)
  /// This contact calls itself otherwise now.
  case contactRenamed(Contact)
}
