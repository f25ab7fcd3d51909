package import Identities
package import Streams

/// Who is there: every peer with a verified card, whether it is a neighbour, when it was heard last, and the events
/// that follow from that.
///
/// *Appeared* is said once per state directory, *silent* after the times of `SessionsLimits`, *returned* only when the
/// silence was long enough to be one. A neighbour is never silent. Only what was authenticated counts as heard.
/// Bounded by the card table, whose eviction rule holds here too: the peers that are pinned, which are the contacts,
/// never go. Pure.
package struct PeerDirectory: Sendable {
  package struct Entry: Sendable, Equatable {
    package var isNeighbour = false
    package var isPresent = false
    /// Links between us at the last hearing; 1 for a neighbour.
    package var hops: UInt8 = 0
    package var lastHeard: MonotonicTime?
    var deadline = MonotonicTime.never
    var silentSince: MonotonicTime?
    /// Of the card in the table; nil when it is only known from before the start.
    var evidence: CardEvidence?
  }

  package enum CardNews: Sendable, Equatable {
    /// The card is new here, or newer than the one that was: keep it.
    case keep
    /// Nothing to keep.
    case known
    /// Two cards of one sequence number: the first one stays.
    case equivocation
  }

  private var table = CardTable()
  private var entries: [PeerID: Entry] = [:]
  private let ownID: PeerID

  package init(ownID: PeerID) { self.ownID = ownID }

  package func card(of peer: PeerID) -> VerifiedCard? { table[peer] }
  package func entry(of peer: PeerID) -> Entry? { entries[peer] }
  package var cards: [VerifiedCard] { table.cards }
  package mutating func setPinned(_ isPinned: Bool, _ peer: PeerID) { table.setPinned(isPinned, peer) }
  package func peers(prefix: String) -> [PeerID] { table.ids(prefix: prefix) }
  package func peers(named name: PeerName) -> [PeerID] { table.ids(named: name) }
  package func bearers(of name: PeerName) -> [PeerID: PeerName] { table.bearers(of: name) }

  /// The cards of the peers that share an origin tag; more than one only by an attack that needs 2^32 keys.
  package func cards(tag: UInt64) -> [VerifiedCard] { table.ids(tag: tag).compactMap { table[$0] } }

  /// Milliseconds for which something may still be sealed to the prekey of a peer.
  package func sealingTimeLeft(
    for peer: PeerID, now: MonotonicTime, wall: UInt64, isSynchronised: Bool
  ) -> UInt64 {
    guard let card = table[peer]?.card else { return 0 }
    return PrekeyTerm.left(
      of: card, evidence: entries[peer]?.evidence, now: now, wall: wall, isSynchronised: isSynchronised)
  }

  /// A card kept from before the start: known, and not heard yet.
  package mutating func restore(_ card: VerifiedCard) {
    guard card.id != ownID else { return }
    _ = table.update(card, now: 0)
    entries[card.id] = Entry(silentSince: .start)
    trim()
  }

  /// A verified card came, over a link or over hops.
  ///
  /// - Parameters:
  ///   - age: milliseconds since it was issued, counted; nil over a link, where the peer itself gives its newest.
  package mutating func receive(
    _ card: VerifiedCard, age: UInt64? = nil, now: MonotonicTime
  ) -> (news: CardNews, changes: [PeerChange]) {
    guard card.id != ownID else { return (.known, []) }
    let old = table[card.id]
    let evidence = CardEvidence(receivedAt: now, age: age ?? 0, isLive: age == nil)
    switch table.update(card, now: now.nanoseconds / 1_000_000) {
    case .equivocation: return (.equivocation, [change(.equivocated, card)])
    case .unchanged:
      // A repetition over hops makes nothing younger; the peer itself does.
      if evidence.isLive || entries[card.id]?.evidence == nil { entries[card.id]?.evidence = evidence }
      return (.known, [])
    case .stale, .full: return (.known, [])
    case .added, .replaced: break
    }
    trim()
    guard let old else {
      entries[card.id] = Entry(evidence: evidence)
      return (.keep, [])
    }
    entries[card.id]?.evidence = evidence
    let isRenamed = old.card.name != card.card.name || old.card.icon != card.card.icon
    return (.keep, isRenamed ? [change(.renamed, card)] : [])
  }

  /// Something authentic came from a peer.
  ///
  /// - Parameter hops: links it has crossed.
  package mutating func heard(_ peer: PeerID, hops: UInt8, now: MonotonicTime) -> [PeerChange] {
    guard let card = table[peer], var entry = entries[peer] else { return [] }
    table.heard(peer, now: now.nanoseconds / 1_000_000)
    let isFirst = entry.lastHeard == nil && entry.silentSince == nil
    let silence = entry.silentSince.map { now.since($0) }
    entry.lastHeard = now
    entry.hops = entry.isNeighbour ? 1 : hops
    entry.deadline = entry.isNeighbour ? .never : now.advanced(by: SessionsLimits.silentAfter)
    let wasPresent = entry.isPresent
    entry.isPresent = true
    entry.silentSince = nil
    entries[peer] = entry
    if isFirst { return [change(.appeared, card)] }
    guard !wasPresent, let silence, silence >= SessionsLimits.returnHysteresis else { return [] }
    return [change(.returned, card)]
  }

  /// A link to the peer is up.
  package mutating func neighbourUp(_ peer: PeerID, now: MonotonicTime) -> [PeerChange] {
    entries[peer]?.isNeighbour = true
    return heard(peer, hops: 1, now: now)
  }

  /// The last link to the peer is gone.
  package mutating func neighbourDown(_ peer: PeerID, now: MonotonicTime) {
    entries[peer]?.isNeighbour = false
    entries[peer]?.lastHeard = now
    entries[peer]?.deadline = now.advanced(by: SessionsLimits.neighbourGrace)
  }

  /// Peers that were not heard for too long.
  package mutating func expire(now: MonotonicTime) -> [PeerChange] {
    let overdue = entries.filter { $0.value.isPresent && $0.value.deadline <= now }.keys.sorted()
    return overdue.compactMap { peer in
      entries[peer]?.isPresent = false
      entries[peer]?.silentSince = now
      entries[peer]?.deadline = .never
      return table[peer].map { change(.silent, $0) }
    }
  }

  /// When `expire` has something to do.
  package var deadline: MonotonicTime? {
    let earliest = entries.values.lazy.map(\.deadline).min() ?? .never
    return earliest == .never ? nil : earliest
  }

  private mutating func trim() {
    guard entries.count > table.count else { return }
    entries = entries.filter { table[$0.key] != nil }
  }

  private func change(_ kind: PeerChange.Kind, _ card: VerifiedCard) -> PeerChange {
    PeerChange(kind: kind, peer: card.id, name: card.card.name.text, icon: card.card.icon.text)
  }
}
