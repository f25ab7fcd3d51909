/// How far the person behind a name is known.
package enum ContactState: String, Sendable, CaseIterable {
  /// We have had to do with this peer; nobody has compared fingerprints.
  case seen
  /// The fingerprints were compared.
  case verified
  /// Somebody with another key uses the name: which of the two is meant has to be settled.
  case changed
}

/// A peer we have to do with, under the name we know it by.
package struct Contact: Hashable, Sendable {
  package var peer: PeerID
  package var name: PeerName
  package var state: ContactState
  package var isBlocked: Bool
  /// Who else uses the name, newest first, while that is not settled; at most `IdentitiesLimits.rivalCount`.
  package var rivals: [PeerID]
  /// A person has said that this peer is the one meant by its name.
  package var isMeant: Bool
  /// We have written to it.
  package var isAddressed: Bool

  package var rival: PeerID? { rivals.first }

  /// A person has decided about it.
  package var isSettled: Bool { isMeant || state == .verified }

  package init(
    peer: PeerID, name: PeerName, state: ContactState = .seen, isBlocked: Bool = false, rivals: [PeerID] = [],
    isMeant: Bool = false, isAddressed: Bool = false
  ) {
    self.peer = peer
    self.name = name
    self.state = state
    self.isBlocked = isBlocked
    self.rivals = rivals
    self.isMeant = isMeant
    self.isAddressed = isAddressed
  }
}
