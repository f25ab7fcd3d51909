internal import Verifying

/// The contacts, and what becomes of them when a stranger takes a friend's name.
///
/// A `PeerID` is the hash of its key, so a key can never change under an ID. What can change is who stands behind a
/// name, and that is what people mean: when a peer with another key bears the name of a contact, or one that people
/// take for it (`PeerName.bears`), the name is *contested* and nothing is sent to it until a person, or a bot by one
/// call, has settled who is meant. Who the peer is makes no difference: a stranger, or a contact that calls itself so
/// now. To the peer, and to every further one, nothing is sent as long as it bears the name: that is decided by the
/// name itself and needs no list. A contact that was not verified is *changed* by it and not reached either; a verified
/// one keeps its state and is reached by its ID, which is its key, and not by the name.
///
/// A contest is settled when one of the two is *meant* and the book has the other under the same name: so it is
/// remembered that the other was seen and was not meant.
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

  private(set) var contacts: [PeerID: Contact] = [:]
  /// Contacts by what their names are taken for.
  private(set) var namesakes: [String: Set<PeerID>] = [:]
  /// Contacts whose names others bear, while that is not settled.
  private(set) var contested: Set<PeerID> = []
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
  /// - Returns: the contact whose name is contested by it, once for each peer.
  package mutating func observe(_ peer: PeerID, name: PeerName) -> Contact? {
    guard contacts[peer]?.isBlocked != true, var contact = contact(bearing: name, besides: peer),
      !isSettled(contact, against: peer), !contact.rivals.contains(peer)
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

  /// A person has said that this peer is meant; `isVerified` when fingerprints were compared. Settles a change: whoever
  /// else bears the name is not meant by it any more.
  ///
  /// A contact that has taken another's name takes it over only when it is said to be meant; comparing its fingerprints
  /// says who it is, and not that it is whom that name has meant.
  ///
  /// - Parameters:
  ///   - name: what it calls itself, or is known by.
  ///   - bearers: the peers that are known to call themselves so, or nearly so, now, with their names.
  /// - Returns: what is to be kept: the contact, and those who lost the name; nothing when there is no room.
  package mutating func trust(
    _ peer: PeerID, name: PeerName, isVerified: Bool, bearers: [PeerID: PeerName] = [:]
  ) -> [Contact] {
    guard contacts[peer] != nil || makeRoom() else { return [] }
    var contact = contacts[peer] ?? Contact(peer: peer, name: name)
    if !isVerified { contact.name = name }
    var losers = Set(contact.rivals)
    contact.rivals = []
    contact.isMeant = true
    contact.state = isVerified || contact.state == .verified ? .verified : .seen
    set(contact)
    var kept = [contact]
    for var other in contacts.values.sorted(by: { $0.peer < $1.peer }) where other.peer != peer {
      guard other.name.bears(contact.name) else {
        // It bore that name once, and is meant by another now.
        guard other.rivals.contains(peer), !other.name.bears(name) else { continue }
        other.rivals.removeAll { $0 == peer }
        if other.rivals.isEmpty, other.state == .changed { other.state = .seen }
        set(other)
        kept.append(other)
        continue
      }
      losers.formUnion(other.rivals)
      if other.state == .changed { other.state = .seen }
      other.rivals = []
      other.isMeant = false
      set(other)
      kept.append(other)
    }
    // The losers stay as contacts under the name they have lost, so that their next cards are no news.
    let others = bearers.filter { $0.key != peer && !losers.contains($0.key) && $0.value.bears(contact.name) }
      .keys.sorted()
    losers.remove(peer)
    for loser in losers.sorted() + others.prefix(IdentitiesLimits.rivalCount) {
      let claimed = bearers[loser]
      if var other = contacts[loser] {
        guard let claimed, !other.name.bears(claimed) else { continue }
        other.name = claimed
        other.isMeant = false
        set(other)
        kept.append(other)
      } else if makeRoom() {
        let other = Contact(peer: loser, name: claimed ?? contact.name)
        set(other)
        kept.append(other)
      }
    }
    return kept
  }

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

  private mutating func set(_ contact: Contact) {
    if let old = contacts[contact.peer], old.name != contact.name { forgetName(of: old) }
    contacts[contact.peer] = contact
    if contact.rivals.isEmpty { contested.remove(contact.peer) } else { contested.insert(contact.peer) }
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
