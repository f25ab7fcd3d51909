internal import Verifying

/// The cards of the peers we know, at most `IdentitiesLimits.cardCount`.
///
/// Contacts are pinned, also before their cards come, and never leave. When the table is full, the unpinned peer heard least recently makes room.
package struct CardTable: Sendable {
  /// What came of a card.
  package enum Outcome: Equatable, Sendable {
    /// The first card of this peer; `evicted` is who made room.
    case added(evicted: PeerID?)
    /// A higher sequence took the place of a lower one.
    case replaced(previous: VerifiedCard)
    /// The card we have.
    case unchanged
    /// A lower sequence than the card we have.
    case stale(kept: UInt64)
    /// The same sequence with other bytes: the peer signed two cards as one. The old one stays.
    case equivocation(kept: VerifiedCard)
    /// No room: every peer in the table is pinned.
    case full
  }

  private struct Entry: Sendable {
    var card: VerifiedCard
    var lastHeard: UInt64
    /// What its name is taken for: worked out once, because strangers decide how often it is asked for.
    var likeness: String
  }

  /// Who is pinned; as many as the caller has contacts.
  private var pinned: Set<PeerID> = []
  private var entries: [PeerID: Entry] = [:]
  private let capacity: Int
  /// Peers that had to make room since the start.
  package private(set) var evictions: UInt64 = 0

  /// `capacity` is at least 1.
  package init(capacity: Int = IdentitiesLimits.cardCount) {
    self.capacity = max(capacity, 1)
  }

  package var count: Int { entries.count }

  package subscript(id: PeerID) -> VerifiedCard? { entries[id]?.card }

  package func isPinned(_ id: PeerID) -> Bool { pinned.contains(id) }

  /// Milliseconds, on the clock that `update` is given.
  package func lastHeard(_ id: PeerID) -> UInt64? { entries[id]?.lastHeard }

  /// Every card, in the order of IDs.
  package var cards: [VerifiedCard] {
    entries.values.map(\.card).sorted { $0.id < $1.id }
  }

  /// Peers whose hexadecimal ID begins with `prefix`, in the order of IDs.
  package func ids(prefix: some StringProtocol) -> [PeerID] {
    let lowered = prefix.lowercased()
    return entries.keys.filter { $0.description.hasPrefix(lowered) }.sorted()
  }

  /// Peers who call themselves so, under canonical equivalence, in the order of IDs.
  package func ids(named name: PeerName) -> [PeerID] {
    entries.filter { $0.value.card.card.name == name }.keys.sorted()
  }

  /// Peers who call themselves so, or by a name that people take for it, with their names.
  package func bearers(of name: PeerName) -> [PeerID: PeerName] {
    let likeness = name.likeness
    return entries.filter { $0.value.likeness == likeness }.mapValues(\.card.card.name)
  }

  /// Peers with this address on the air, in the order of IDs.
  package func ids(tag: UInt64) -> [PeerID] {
    entries.keys.filter { $0.tag == tag }.sorted()
  }

  /// Takes a card that was heard at `now`, in milliseconds on any clock that does not go back. A pinned peer stays
  /// pinned whatever its card becomes.
  package mutating func update(_ card: VerifiedCard, now: UInt64) -> Outcome {
    guard var entry = entries[card.id] else { return add(card, now: now) }
    entry.lastHeard = max(entry.lastHeard, now)
    let kept = entry.card
    let sequence = kept.card.sequence
    let outcome: Outcome
    if card.card.sequence > sequence || CardSequence.isSkipped {
      entry.card = card
      entry.likeness = card.card.name.likeness
      outcome = .replaced(previous: kept)
    } else if card.card.sequence < sequence {
      outcome = .stale(kept: sequence)
    } else {
      outcome = card == kept ? .unchanged : .equivocation(kept: kept)
    }
    entries[card.id] = entry
    return outcome
  }

  /// Something else came from this peer.
  package mutating func heard(_ id: PeerID, now: UInt64) {
    guard let last = entries[id]?.lastHeard else { return }
    entries[id]?.lastHeard = max(last, now)
  }

  /// A pinned peer is never evicted, whenever its card comes.
  package mutating func setPinned(_ isPinned: Bool, _ id: PeerID) {
    if isPinned { pinned.insert(id) } else { pinned.remove(id) }
  }

  @discardableResult
  package mutating func remove(_ id: PeerID) -> VerifiedCard? {
    entries.removeValue(forKey: id)?.card
  }

  private mutating func add(_ card: VerifiedCard, now: UInt64) -> Outcome {
    var evicted: PeerID?
    if entries.count >= capacity {
      // The ID breaks ties, so that the same cards in the same order leave the same table.
      let oldest = entries.filter { !pinned.contains($0.key) }
        .min { ($0.value.lastHeard, $0.key) < ($1.value.lastHeard, $1.key) }
      guard let oldest else { return .full }
      entries.removeValue(forKey: oldest.key)
      evictions &+= 1
      evicted = oldest.key
    }
    entries[card.id] = Entry(card: card, lastHeard: now, likeness: card.card.name.likeness)
    return .added(evicted: evicted)
  }
}

/// A card replaces only one of a lower sequence.
enum CardSequence: Verification {
  static let name = "card-sequence"
}
