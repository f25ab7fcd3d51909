package import Identities
internal import Streams

/// A peer as it is listed.
package struct ListedPeer: Sendable {
  package var card: VerifiedCard
  package var entry: PeerDirectory.Entry
}

/// What a text that should name a peer means.
package enum PeerResolution: Sendable {
  case peer(VerifiedCard)
  case unknown
  /// More than one peer fits: all of them.
  case ambiguous([VerifiedCard])
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

  package func peerName(_ id: PeerID) -> String? { directory.card(of: id)?.card.name.text }

  /// The card a tag or a route entry stands for, if it is the only one.
  package func name(ofRouteEntry entry: UInt32) -> String? {
    let cards = directory.cards.filter { $0.id.routeEntry == entry }
    return cards.count == 1 ? cards[0].printed : nil
  }

  /// Finds a peer by its full ID, a prefix of it, or its name; never by a guess.
  package func resolve(_ text: String) -> PeerResolution {
    let isHex =
      text.count >= 4
      && text.utf8.allSatisfy {
        UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9")
          || UInt8(ascii: "a") <= $0 | 0x20 && $0 | 0x20 <= UInt8(ascii: "f")
      }
    var found: [PeerID] = isHex ? directory.peers(prefix: text) : []
    if let name = try? PeerName(text) {
      if let meant = contacts.meant(by: name), let card = directory.card(of: meant) { return .peer(card) }
      found += directory.peers(named: name).filter { !found.contains($0) }
    }
    let cards = found.compactMap { directory.card(of: $0) }
    return switch cards.count {
    case 0: .unknown
    case 1: .peer(cards[0])
    default: .ambiguous(cards)
    }
  }
}
