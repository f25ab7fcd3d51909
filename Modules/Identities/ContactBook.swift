internal import Verifying

/// The contacts, and what becomes of them when a stranger takes a friend's name.
///
/// A `PeerID` is the hash of its key, so a key can never change under an ID. What can change is who stands behind a
/// name, and that is what people mean: when a peer with another key bears the name of a contact, or one that people
/// take for it (`PeerName.bears`), the contact is *changed* and nothing is sent to it until a person, or a bot by one
/// call, has settled who is meant. To the stranger, and to every further one, nothing is sent as long as it bears the
/// name: that is decided by the name itself and needs no list.
///
/// Bounded: when the book is full, the contact used least lately makes room, of those that are only *seen* and to whom
/// we have never written. Whoever was verified, meant, blocked or written to never goes. Pure.
package struct ContactBook: Sendable {
  package enum Answer: Sendable, Equatable {
    /// Nothing stands against it.
    case fine
    /// Two peers claim the name of this contact.
    case changed(Contact)
    case blocked
  }

  private var contacts: [PeerID: Contact] = [:]
  /// Contacts by what their names are taken for.
  private var namesakes: [String: Set<PeerID>] = [:]
  /// When each was used last, counted in uses.
  private var lastUse: [PeerID: UInt64] = [:]
  private var uses: UInt64 = 0
  private let capacity: Int
  private var evicted: [PeerID] = []

  /// - Parameter contacts: used longest ago first.
  package init(_ contacts: [Contact] = [], capacity: Int = IdentitiesLimits.contactCount) {
    self.capacity = max(1, capacity)
    for contact in contacts.suffix(self.capacity) { set(contact) }
  }

  package subscript(peer: PeerID) -> Contact? { contacts[peer] }

  /// In the order of names, then of IDs.
  package var all: [Contact] {
    contacts.values.sorted { ($0.name.text, $0.peer) < ($1.name.text, $1.peer) }
  }

  package var peers: [PeerID] { contacts.keys.sorted() }

  package var blocked: Set<PeerID> { Set(contacts.values.lazy.filter(\.isBlocked).map(\.peer)) }

  /// Who had to make room since this was asked last.
  package mutating func takeEvicted() -> [PeerID] {
    defer { evicted = [] }
    return evicted
  }

  /// We have to do with a peer: it becomes a contact, unless it bears the name of another.
  ///
  /// - Parameter isAddressed: we write to it; otherwise it has written to us.
  /// - Returns: the contact when there is something to keep.
  package mutating func meet(_ peer: PeerID, name: PeerName, isAddressed: Bool) -> Contact? {
    if var contact = contacts[peer] {
      use(peer)
      guard isAddressed, !contact.isAddressed else { return nil }
      contact.isAddressed = true
      set(contact)
      return contact
    }
    guard self.contact(bearing: name, besides: peer) == nil, makeRoom() else { return nil }
    let contact = Contact(peer: peer, name: name, isAddressed: isAddressed)
    set(contact)
    return contact
  }

  /// A verified card was seen: does it bear the name of a contact of ours?
  ///
  /// - Returns: the contact that is changed by it, once for each peer.
  package mutating func observe(_ peer: PeerID, name: PeerName) -> Contact? {
    // Of two contacts that both are ours, and bear one name, neither is a stranger.
    guard contacts[peer] == nil, var contact = contact(bearing: name, besides: peer),
      !contact.rivals.contains(peer)
    else { return nil }
    if contact.state == .seen { contact.state = .changed }
    contact.rivals = [peer] + contact.rivals.prefix(IdentitiesLimits.rivalCount - 1)
    set(contact)
    return contact
  }

  /// A contact calls itself otherwise now. It is followed, unless the name is another contact's.
  ///
  /// - Returns: the contact with its new name.
  package mutating func rename(_ peer: PeerID, to name: PeerName) -> Contact? {
    guard var contact = contacts[peer], Array(contact.name.text.utf8) != Array(name.text.utf8),
      self.contact(bearing: name, besides: peer) == nil
    else { return nil }
    contact.name = name
    set(contact)
    return contact
  }

  /// Whether something may be sent to a peer.
  ///
  /// - Parameter name: what it calls itself, if its card is known.
  package func mayReach(_ peer: PeerID, name: PeerName?) -> Answer {
    if let contact = contacts[peer] {
      if contact.isBlocked, !ContactNotBlocked.isSkipped { return .blocked }
      return contact.state == .changed && !ContactSettled.isSkipped ? .changed(contact) : .fine
    }
    let claimed =
      name.flatMap { contact(bearing: $0, besides: peer) }
      ?? contacts.values.filter { $0.rivals.contains(peer) }
      .min { $0.peer < $1.peer }
    guard var claimed, !ContactSettled.isSkipped else { return .fine }
    claimed.rivals = [peer] + claimed.rivals.filter { $0 != peer }
    return .changed(claimed)
  }

  /// A person has said that this peer is meant; `isVerified` when fingerprints were compared. Settles a change: whoever
  /// else bears the name is not meant by it any more.
  ///
  /// - Returns: what is to be kept: the contact, and those who lost the name; nothing when there is no room.
  package mutating func trust(_ peer: PeerID, name: PeerName, isVerified: Bool) -> [Contact] {
    guard contacts[peer] != nil || makeRoom() else { return [] }
    var contact = contacts[peer] ?? Contact(peer: peer, name: name)
    let losers = contact.rivals
    contact.rivals = []
    contact.isMeant = true
    contact.state = isVerified || contact.state == .verified ? .verified : .seen
    set(contact)
    var kept = [contact]
    for var other in contacts.values.sorted(by: { $0.peer < $1.peer }) where other.peer != peer {
      guard other.rivals.contains(peer) || other.name.bears(contact.name) else { continue }
      if other.state == .changed { other.state = .seen }
      other.rivals = []
      other.isMeant = false
      set(other)
      kept.append(other)
    }
    // The losers stay as contacts, so that their next cards are no news.
    for loser in losers where contacts[loser] == nil && makeRoom() {
      let other = Contact(peer: loser, name: contact.name)
      set(other)
      kept.append(other)
    }
    return kept
  }

  /// Contacts that are called so, in the order of IDs.
  package func named(_ name: PeerName) -> [Contact] {
    (namesakes[name.likeness] ?? []).compactMap { contacts[$0] }.filter { $0.name == name }.sorted { $0.peer < $1.peer }
  }

  /// Whom a person has said to mean by this name.
  package func meant(by name: PeerName) -> PeerID? { named(name).first(where: \.isMeant)?.peer }

  /// Neither shows nor carries what this peer says, or does so again.
  ///
  /// - Returns: nil when there is no room for it.
  package mutating func setBlocked(_ isBlocked: Bool, _ peer: PeerID, name: PeerName) -> Contact? {
    guard contacts[peer] != nil || makeRoom() else { return nil }
    var contact = contacts[peer] ?? Contact(peer: peer, name: name)
    contact.isBlocked = isBlocked
    set(contact)
    return contact
  }

  /// Who of the contacts has this name, or one that is taken for it: whoever a person has settled on first. A blocked
  /// one defends nothing.
  private func contact(bearing name: PeerName, besides peer: PeerID) -> Contact? {
    (namesakes[name.likeness] ?? []).compactMap { contacts[$0] }.filter { $0.peer != peer && !$0.isBlocked }
      .min { ($0.isSettled ? 0 : 1, $0.peer) < ($1.isSettled ? 0 : 1, $1.peer) }
  }

  private mutating func set(_ contact: Contact) {
    if let old = contacts[contact.peer], old.name != contact.name { forgetName(of: old) }
    contacts[contact.peer] = contact
    namesakes[contact.name.likeness, default: []].insert(contact.peer)
    use(contact.peer)
  }

  private mutating func use(_ peer: PeerID) {
    uses += 1
    lastUse[peer] = uses
  }

  private mutating func forgetName(of contact: Contact) {
    let likeness = contact.name.likeness
    namesakes[likeness]?.remove(contact.peer)
    if namesakes[likeness]?.isEmpty == true { namesakes[likeness] = nil }
  }

  /// - Returns: whether one more has room.
  private mutating func makeRoom() -> Bool {
    guard contacts.count >= capacity else { return true }
    let idle = contacts.values.filter {
      $0.state == .seen && !$0.isBlocked && !$0.isMeant && !$0.isAddressed && $0.rivals.isEmpty
    }
    guard let oldest = idle.min(by: { lastUse[$0.peer] ?? 0 < lastUse[$1.peer] ?? 0 }) else { return false }
    forgetName(of: oldest)
    contacts[oldest.peer] = nil
    lastUse[oldest.peer] = nil
    evicted.append(oldest.peer)
    return true
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
