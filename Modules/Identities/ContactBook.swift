internal import Verifying

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
  /// Who else uses the name, while that is not settled.
  package var rival: PeerID?
  /// A person has said that this peer is the one meant by its name.
  package var isMeant: Bool

  package init(
    peer: PeerID, name: PeerName, state: ContactState = .seen, isBlocked: Bool = false, rival: PeerID? = nil,
    isMeant: Bool = false
  ) {
    self.peer = peer
    self.name = name
    self.state = state
    self.isBlocked = isBlocked
    self.rival = rival
    self.isMeant = isMeant
  }
}

/// The contacts, and what becomes of them when a stranger takes a friend's name.
///
/// A `PeerID` is the hash of its key, so a key can never change under an ID. What can change is who stands behind a
/// name, and that is what people mean: when a peer with another key bears the name of a contact, the contact is
/// *changed* and nothing is sent to it until a person, or a bot by one call, has settled who is meant. Contacts are never
/// evicted by strangers; when the book is full no new one is made. Pure.
package struct ContactBook: Sendable {
  package enum Answer: Sendable, Equatable {
    /// Nothing stands against it.
    case fine
    /// Two peers claim the name of this contact.
    case changed(Contact)
    case blocked
  }

  private var contacts: [PeerID: Contact] = [:]
  private let capacity: Int

  package init(_ contacts: [Contact] = [], capacity: Int = IdentitiesLimits.contactCount) {
    self.capacity = max(1, capacity)
    for contact in contacts.prefix(self.capacity) { self.contacts[contact.peer] = contact }
  }

  package subscript(peer: PeerID) -> Contact? { contacts[peer] }

  /// In the order of names, then of IDs.
  package var all: [Contact] {
    contacts.values.sorted { ($0.name.text, $0.peer) < ($1.name.text, $1.peer) }
  }

  package var blocked: Set<PeerID> { Set(contacts.values.lazy.filter(\.isBlocked).map(\.peer)) }

  /// We have to do with a peer: it becomes a contact.
  ///
  /// - Returns: the contact when it is new.
  package mutating func meet(_ peer: PeerID, name: PeerName) -> Contact? {
    guard contacts[peer] == nil, contacts.count < capacity else { return nil }
    let contact = Contact(peer: peer, name: name)
    contacts[peer] = contact
    return contact
  }

  /// A verified card was seen: does it bear the name of a contact of ours?
  ///
  /// - Returns: the contact that is changed by it.
  package mutating func observe(_ peer: PeerID, name: PeerName) -> Contact? {
    // Of two contacts that both are ours, and bear one name, neither is a stranger.
    guard contacts[peer] == nil else { return nil }
    let namesakes = contacts.values.filter {
      $0.name == name && $0.peer != peer && $0.state != .changed && !$0.isBlocked
    }
    guard var contact = namesakes.min(by: { $0.peer < $1.peer }) else { return nil }
    contact.state = contact.state == .verified ? .verified : .changed
    contact.rival = peer
    contacts[contact.peer] = contact
    return contact
  }

  /// Whether something may be sent to a peer.
  package func mayReach(_ peer: PeerID) -> Answer {
    guard let contact = contacts[peer] else {
      if let claimed = contacts.values.first(where: { $0.rival == peer }) {
        return .changed(claimed)
      }
      return .fine
    }
    if contact.isBlocked, !ContactNotBlocked.isSkipped { return .blocked }
    return contact.state == .changed && !ContactSettled.isSkipped ? .changed(contact) : .fine
  }

  /// A person has said that this peer is meant; `isVerified` when fingerprints were compared. Settles a change: whoever
  /// else bears the name is not meant by it any more.
  ///
  /// - Returns: what is to be kept: the contact, and the one who lost the name.
  package mutating func trust(_ peer: PeerID, name: PeerName, isVerified: Bool) -> [Contact] {
    guard contacts[peer] != nil || contacts.count < capacity else { return [] }
    var contact = contacts[peer] ?? Contact(peer: peer, name: name)
    var kept: [Contact] = []
    // The loser stays as a contact, so that its next card is no news.
    if let rival = contact.rival, contacts[rival] == nil, contacts.count < capacity {
      kept.append(Contact(peer: rival, name: contact.name))
    }
    for var other in contacts.values where other.peer != peer && (other.rival == peer || other.name == contact.name) {
      if other.state == .changed { other.state = .seen }
      other.rival = nil
      other.isMeant = false
      kept.append(other)
    }
    contact.rival = nil
    contact.isMeant = true
    contact.state = isVerified || contact.state == .verified ? .verified : .seen
    kept.insert(contact, at: 0)
    for one in kept { contacts[one.peer] = one }
    return kept
  }

  /// Whom a person has said to mean by this name.
  package func meant(by name: PeerName) -> PeerID? {
    contacts.values.first { $0.isMeant && $0.name == name }?.peer
  }

  /// Neither shows nor carries what this peer says, or does so again.
  package mutating func setBlocked(_ isBlocked: Bool, _ peer: PeerID, name: PeerName) -> Contact? {
    guard contacts[peer] != nil || contacts.count < capacity else { return nil }
    var contact = contacts[peer] ?? Contact(peer: peer, name: name)
    contact.isBlocked = isBlocked
    contacts[peer] = contact
    return contact
  }
}

/// Nobody else claims the name of whom something is sent to.
enum ContactSettled: Verification {
  static let name = "contact-settled"
}

/// Whom something is sent to is not blocked.
enum ContactNotBlocked: Verification {
  static let name = "contact-not-blocked"
}
