package import Identities
internal import Telemetry
internal import WireFormat

/// The people we have to do with: met, verified, trusted, blocked.
extension Session {
  package var allContacts: [Contact] { contacts.all }

  package func contact(_ peer: PeerID) -> Contact? { contacts[peer] }

  /// Says that this peer is the one meant by its name; with `isVerified` that fingerprints were compared. Settles a
  /// change. Durable when it returns.
  package func trust(_ peer: PeerID, isVerified: Bool) async throws(SessionError) -> Contact {
    guard let card = directory.card(of: peer) else { throw .unknownPeer }
    for contact in contacts.trust(peer, name: card.card.name, isVerified: isVerified) { try await save(contact) }
    await publishBlocked()
    return contacts[peer] ?? Contact(peer: peer, name: card.card.name)
  }

  /// Blocks a peer or takes it back: nothing it writes is shown, and no airtime is spent on it.
  package func setBlocked(_ isBlocked: Bool, _ peer: PeerID) async throws(SessionError) -> Contact {
    guard let name = contacts[peer]?.name ?? directory.card(of: peer)?.card.name,
      let contact = contacts.setBlocked(isBlocked, peer, name: name)
    else { throw .unknownPeer }
    try await save(contact)
    await publishBlocked()
    return contact
  }

  func meet(_ card: VerifiedCard) async {
    if let contact = contacts.meet(card.id, name: card.card.name) { await keep(contact) }
  }

  func keep(_ contact: Contact) async {
    do {
      try await ports.store.save(contact)
    } catch {
      counters.count(.storeFailed)
      ports.log.error("a contact could not be kept", ["reason": .text(error.reason)])
    }
  }

  private func save(_ contact: Contact) async throws(SessionError) {
    do { try await ports.store.save(contact) } catch {
      counters.count(.storeFailed)
      throw .storeFailed(reason: error.reason)
    }
  }

  func publishBlocked() async { await ports.block(Set(contacts.blocked.map { Tag(rawValue: $0.tag) })) }
}
