package import Identities
internal import Streams
internal import Telemetry
internal import WireFormat

/// The people we have to do with: met, verified, trusted, blocked.
extension Session {
  package var allContacts: [Contact] { contacts.all }

  package func contact(_ peer: PeerID) -> Contact? { contacts[peer] }

  /// Says that this peer is the one meant by its name; with `isVerified` that fingerprints were compared. Settles a
  /// change. Durable when it returns; what waited for it is on its way.
  package func trust(_ peer: PeerID, isVerified: Bool) async throws(SessionError) -> Contact {
    guard let known = known(peer), peer != ownID else { throw .unknownPeer }
    let name = directory.card(of: peer)?.card.name ?? known.name
    let kept = contacts.trust(peer, name: name, isVerified: isVerified, bearers: directory.bearers(of: name))
    guard let contact = kept.first else { throw .contactsFull(limit: IdentitiesLimits.contactCount) }
    for contact in kept { try await save(contact) }
    await settled()
    return contact
  }

  /// Blocks a peer or takes it back: nothing it writes is shown, no airtime is spent on it, and nothing of ours goes to
  /// it; what waited goes out when it is taken back.
  package func setBlocked(_ isBlocked: Bool, _ peer: PeerID) async throws(SessionError) -> Contact {
    guard let known = known(peer), peer != ownID else { throw .unknownPeer }
    guard let contact = contacts.setBlocked(isBlocked, peer, name: known.name) else {
      throw .contactsFull(limit: IdentitiesLimits.contactCount)
    }
    try await save(contact)
    if !isBlocked { await contest(directory.card(of: peer)?.card.name ?? contact.name, by: peer) }
    await settled()
    return contacts[peer] ?? contact
  }

  private func settled() async {
    await forgetEvicted()
    await publishBlocked()
    await sendWaiting(to: nil)
  }

  /// - Parameter isAddressed: we write to the peer; otherwise it has written to us.
  func meet(_ peer: PeerID, name: PeerName, isAddressed: Bool) async {
    let isNew = contacts[peer] == nil
    if let contact = contacts.meet(peer, name: name, isAddressed: isAddressed) {
      await keep(contact)
      // Whoever writes to us takes no name from those who are here already.
      if isNew, !isAddressed { await contestByNamesakes(of: contact) }
    }
    await forgetEvicted()
  }

  /// A card of a peer came that is new here: a contact is followed to its new name, unless that is another contact's,
  /// and whoever bears the name of a contact contests it, a stranger and a contact alike.
  func compare(_ peer: PeerID, name: PeerName) async {
    if let renamed = contacts.rename(peer, to: name) {
      await keep(renamed)
      events.send(.contactRenamed(renamed))
      await contestByNamesakes(of: renamed)
    }
    await contest(name, by: peer)
  }

  private func contestByNamesakes(of contact: Contact) async {
    let others = directory.bearers(of: contact.name).filter { $0.key != contact.peer }
    for (peer, name) in others.sorted(by: { $0.key < $1.key }).prefix(IdentitiesLimits.rivalCount) {
      await contest(name, by: peer)
    }
  }

  private func contest(_ name: PeerName, by peer: PeerID) async {
    guard let changed = contacts.observe(peer, name: name) else { return }
    await keep(changed)
    ports.log.warning("another key bears a contact's name", ["contact": .text(changed.peer.shortHex)])
    events.send(.contactChanged(changed))
  }

  func mayReach(_ peer: PeerID) -> ContactBook.Answer {
    contacts.mayReach(peer, name: directory.card(of: peer)?.card.name)
  }

  func keep(_ contact: Contact) async {
    do {
      try await save(contact)
    } catch {
      ports.log.error("a contact could not be kept", ["reason": .description(error)])
    }
  }

  private func save(_ contact: Contact) async throws(SessionError) {
    directory.setPinned(true, contact.peer)
    do { try await ports.store.save(contact) } catch {
      counters.count(.storeFailed)
      throw .storeFailed(reason: error.reason)
    }
  }

  private func forgetEvicted() async {
    for peer in contacts.takeEvicted() {
      counters.count(.contactsEvicted)
      directory.setPinned(false, peer)
      do { try await ports.store.removeContact(peer) } catch { counters.count(.storeFailed) }
    }
  }

  func publishBlocked() async { await ports.block(Set(contacts.blocked.map { Tag(rawValue: $0.tag) })) }
}
