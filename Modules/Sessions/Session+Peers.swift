package import Identities
package import Streams

/// A peer as it is listed.
package struct ListedPeer: Sendable {
  package var card: VerifiedCard
  package var entry: PeerDirectory.Entry
}

/// A peer that a text names. A contact may be without a card.
package struct KnownPeer: Sendable, Equatable {
  package var id: PeerID
  package var name: PeerName

  package init(id: PeerID, name: PeerName) {
    self.id = id
    self.name = name
  }
}

/// What a text that should name a peer means.
package enum PeerResolution: Sendable, Equatable {
  case peer(KnownPeer)
  case unknown
  /// More than one peer fits, and none of them is a contact: all of them.
  case ambiguous([KnownPeer])
  /// Another peer bears the name of this contact, its rivals: who is meant has to be settled first.
  case contested(Contact)
}

extension Session {
  package func peers() -> [ListedPeer] {
    directory.cards.compactMap { card in
      directory.entry(of: card.id).map { ListedPeer(card: card, entry: $0) }
    }
  }

  package func peer(_ id: PeerID) -> ListedPeer? {
    guard let card = directory.card(of: id), let entry = directory.entry(of: id) else { return nil }
    return ListedPeer(card: card, entry: entry)
  }

  /// Who is linked with whom, by the routes of packets that came lately.
  package func mapEdges(now: MonotonicTime) -> [(edge: MeshMap.Edge, seenAt: MonotonicTime)] { map.edges(now: now) }

  package func peerName(_ id: PeerID) -> String? { directory.card(of: id)?.card.name.text }

  /// The card a tag or a route entry stands for, if it is the only one.
  package func name(ofRouteEntry entry: UInt32) -> String? {
    let cards = directory.cards.filter { $0.id.routeEntry == entry }
    return cards.count == 1 ? cards[0].printed : nil
  }

  /// Finds a peer by its full ID, a prefix of it, or its name; never by a guess.
  ///
  /// A text that reads like an ID is one, and never a name: nobody can take the ID of another as a name. A full ID is
  /// this peer or nobody. A name is nobody's while two bear it, whatever is known of them and whether they are here;
  /// once a person has settled it, it is that contact's, whether its card is here or not.
  package func resolve(_ text: String) -> PeerResolution {
    if PeerName.isLikeID(text) { return resolve(digits: text.lowercased()) }
    guard let name = try? PeerName(text), !name.isLikeID else { return .unknown }
    let named = contacts.named(name)
    if let meant = named.first(where: \.isMeant) {
      return meant.rivals.isEmpty ? .peer(KnownPeer(id: meant.peer, name: name)) : .contested(meant)
    }
    let bearers = Set(named.map(\.peer)).union(directory.peers(named: name)).sorted()
    for peer in bearers {
      guard var contest = contacts.contest(of: peer, name: directory.card(of: peer)?.card.name) else { continue }
      contest.rivals += bearers.filter { $0 != contest.peer && !contest.rivals.contains($0) }
      return .contested(contest)
    }
    // Two may be here whom nothing has compared yet: one was written to by its ID.
    if bearers.count > 1, var contact = bearers.compactMap({ contacts[$0] }).first {
      contact.rivals = bearers.filter { $0 != contact.peer }
      return .contested(contact)
    }
    return one(of: bearers.map { KnownPeer(id: $0, name: name) })
  }

  private func resolve(digits: String) -> PeerResolution {
    guard digits.utf8.count < 2 * PeerID.byteCount else {
      return PeerID(hex: digits).flatMap { known($0) }.map { .peer($0) } ?? .unknown
    }
    let ids = Set(directory.peers(prefix: digits)).union(contacts.peers.filter { $0.description.hasPrefix(digits) })
    return one(of: ids.sorted().compactMap { known($0) })
  }

  private func one(of peers: [KnownPeer]) -> PeerResolution {
    switch peers.count {
    case 0: .unknown
    case 1: .peer(peers[0])
    default: .ambiguous(peers)
    }
  }

  /// A peer whose card is here, or a contact.
  package func known(_ peer: PeerID) -> KnownPeer? {
    (contacts[peer]?.name ?? directory.card(of: peer)?.card.name).map { KnownPeer(id: peer, name: $0) }
  }
}
