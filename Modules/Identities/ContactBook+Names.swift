internal import Verifying

/// Who is meant by a name, and who may be reached by it.
extension ContactBook {
  /// Whether something may be sent to a peer.
  ///
  /// - Parameter name: what it calls itself, if its card is known.
  package func mayReach(_ peer: PeerID, name: PeerName?) -> Answer {
    let contact = contacts[peer]
    if contact?.isBlocked == true, !ContactNotBlocked.isSkipped { return .blocked }
    // Whose fingerprints were compared is reached by its ID, whoever else bears its name.
    guard contact?.state != .verified, !ContactSettled.isSkipped else { return .fine }
    return contest(of: peer, name: name).map { .changed($0) } ?? .fine
  }

  /// The contest that a peer is part of: the contact whose name two peers bear, with all that is known of who else
  /// bears it. Nil when a person has settled it, or nobody else does.
  ///
  /// - Parameter name: what it calls itself, if its card is known.
  package func contest(of peer: PeerID, name: PeerName?) -> Contact? {
    if let own = contacts[peer], !own.rivals.isEmpty || own.state == .changed { return own }
    let claimed =
      (name ?? contacts[peer]?.name).flatMap { name in
        contact(bearing: name, besides: peer).flatMap { isSettled($0, against: peer) ? nil : $0 }
      } ?? contested.compactMap { contacts[$0] }.filter { $0.rivals.contains(peer) }.min { $0.peer < $1.peer }
    guard var claimed else { return nil }
    claimed.rivals = [peer] + claimed.rivals.filter { $0 != peer }
    return claimed
  }

  /// Contacts that are called so, in the order of IDs.
  package func named(_ name: PeerName) -> [Contact] {
    (namesakes[name.likeness] ?? []).compactMap { contacts[$0] }.filter { $0.name == name }.sorted { $0.peer < $1.peer }
  }

  /// Whom a person has said to mean by this name.
  package func meant(by name: PeerName) -> PeerID? { named(name).first(where: \.isMeant)?.peer }

  /// Whether a person has settled which of the two is meant by the name of the contact.
  func isSettled(_ contact: Contact, against peer: PeerID) -> Bool {
    guard let other = contacts[peer], other.name.bears(contact.name) else { return false }
    return (contact.isMeant || other.isMeant) && !contact.rivals.contains(peer)
  }

  /// Who of the contacts has this name, or one that is taken for it: whoever a person has settled on first. A blocked
  /// one defends nothing.
  func contact(bearing name: PeerName, besides peer: PeerID) -> Contact? {
    (namesakes[name.likeness] ?? []).compactMap { contacts[$0] }.filter { $0.peer != peer && !$0.isBlocked }
      .min { (Self.rank($0), $0.peer) < (Self.rank($1), $1.peer) }
  }

  private static func rank(_ contact: Contact) -> Int { contact.isMeant ? 0 : contact.isSettled ? 1 : 2 }
}

/// Nobody else claims the name of whom something is sent to.
enum ContactSettled: Verification {
  static let name = "contact-settled"
}

/// Whom something is sent to is not blocked.
enum ContactNotBlocked: Verification {
  static let name = "contact-not-blocked"
}
