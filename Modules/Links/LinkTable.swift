package import Identities
package import Streams
package import Transports

/// Which links there are, whose they are, and which one of two to the same peer stays.
///
/// One *logical* link per peer: a peer has a slot, and a slot has one link that carries frames. Both sides dial, so two
/// links to one peer are normal. The one whose central has the lower `PeerID` stays; both sides know that by
/// themselves. Of two with the same central the one that is newer to it stays, because the peer has restarted; the
/// other side follows.
///
/// The change is safe: a side sends on the survivor only after the peer has sent there, which shows that it has it,
/// and only then closes the other. A slot stays with its peer after the link is gone, until another peer needs it.
///
/// Pure: each input returns what is to be done.
package struct LinkTable: Sendable {
  package enum Action: Sendable, Equatable {
    /// The peer has a link now and had none.
    case up(slot: Int, peer: PeerID)
    /// Frames to this peer go over another link from now on.
    case moved(slot: Int, to: LinkID)
    /// The peer has no link any more.
    case down(slot: Int, peer: PeerID)
    case close(LinkID, CloseReason)
    /// The slot belonged to another peer before: what was kept for it is void.
    case reassigned(slot: Int)
  }

  package enum CloseReason: String, Sendable, CaseIterable {
    /// Another link to the same peer stays.
    case duplicate
    /// Too many links that others have opened and whose peer is not known yet: this one has made room.
    case halfOpenEvicted
    /// The address has begun too many handshakes lately.
    case tooManyHandshakes
    /// Every slot has a link.
    case noFreeSlot
    /// The peer did not prove who it is in time.
    case handshakeTimeout
    case handshakeFailed
    /// The other end has our own keys.
    case ownIdentity
    /// The frame that the transport offers is too small.
    case frameTooSmall
    /// Nothing was heard for too long.
    case silent
    case brokenFrames
    /// A frame could not be sealed.
    case sealFailed
    /// The session's keys have served their time: the peers meet again with new ones.
    case wornOut
    case transportFailed
    case stopping
  }

  package struct Entry: Sendable {
    package var role: LinkRole
    package var openedAt: MonotonicTime
    package var slot: Int?
    /// The peer has sent a frame here after the handshake, so both sides have the link.
    package var isConfirmed = false
    package var isClosing = false
    /// Something came over it.
    package var isHeard = false
  }

  package struct Slot: Sendable {
    package var peer: PeerID
    package var active: LinkID?
    /// The link that will take over once the peer has shown that it has it.
    package var successor: LinkID?
    package var freedAt: MonotonicTime
  }

  private let ownID: PeerID
  package private(set) var links: [LinkID: Entry] = [:]
  package private(set) var slots: [Slot?] = Array(repeating: nil, count: LinksLimits.slots)

  package init(ownID: PeerID) { self.ownID = ownID }

  /// Links that others have opened and that have not proved whose they are.
  package var halfOpenCount: Int { links.values.count { $0.isHalfOpenByOther } }
  package var linkedCount: Int { slots.count { $0?.active != nil } }

  package func slot(of peer: PeerID) -> Int? { slots.firstIndex { $0?.peer == peer } }

  /// A transport opened a link.
  ///
  /// Those that others open have `LinksLimits.halfOpen` places until they have proved whose they are. When these are
  /// taken, the one that has been silent for longest makes room, or else the oldest: whoever says nothing, or dawdles,
  /// keeps no newcomer out. Our own dials take none of the places; the dial plan bounds them.
  package mutating func opened(_ id: LinkID, role: LinkRole, now: MonotonicTime) -> [Action] {
    var actions: [Action] = []
    if role == .peripheral, halfOpenCount >= LinksLimits.halfOpen {
      let oldest = links.filter { $0.value.isHalfOpenByOther }.min { one, other in
        (one.value.isHeard ? 1 : 0, one.value.openedAt, one.key)
          < (other.value.isHeard ? 1 : 0, other.value.openedAt, other.key)
      }
      if let oldest { actions.append(close(oldest.key, .halfOpenEvicted)) }
    }
    links[id] = Entry(role: role, openedAt: now)
    return actions
  }

  /// Something came over a link.
  package mutating func heard(_ id: LinkID) { links[id]?.isHeard = true }

  /// The handshake of a link is over on our side and names the peer.
  package mutating func established(_ id: LinkID, peer: PeerID, now: MonotonicTime) -> [Action] {
    guard var entry = links[id], entry.slot == nil, !entry.isClosing else { return [] }
    var actions: [Action] = []
    guard let slot = claim(for: peer, now: now, actions: &actions) else {
      return actions + [close(id, .noFreeSlot)]
    }
    entry.slot = slot
    links[id] = entry
    guard let active = slots[slot]?.active else {
      slots[slot]?.active = id
      return actions + [.up(slot: slot, peer: peer)]
    }
    let best = slots[slot]?.successor ?? active
    if survivor(best, id, peer: peer) == id {
      if best != active, isOursToClose(best, for: id, peer: peer) { actions.append(close(best, .duplicate)) }
      slots[slot]?.successor = id
    }
    return actions + closeRest(of: slot)
  }

  /// The peer sent its first frame over an established link.
  package mutating func confirmed(_ id: LinkID) -> [Action] {
    guard let entry = links[id], !entry.isConfirmed, let slot = entry.slot else { return [] }
    links[id]?.isConfirmed = true
    var actions: [Action] = []
    if slots[slot]?.successor == id {
      slots[slot]?.active = id
      slots[slot]?.successor = nil
      actions.append(.moved(slot: slot, to: id))
    }
    return actions + closeRest(of: slot)
  }

  /// A link has ended, whoever ended it.
  package mutating func ended(_ id: LinkID, now: MonotonicTime) -> [Action] {
    guard let entry = links.removeValue(forKey: id), let slot = entry.slot else { return [] }
    if slots[slot]?.successor == id { slots[slot]?.successor = nil }
    guard slots[slot]?.active == id, let peer = slots[slot]?.peer else { return [] }
    let heirs = links.filter { $0.value.slot == slot && !$0.value.isClosing }.keys.sorted()
    if let first = heirs.first {
      let heir = slots[slot]?.successor ?? heirs.dropFirst().reduce(first) { survivor($0, $1, peer: peer) }
      slots[slot]?.active = heir
      slots[slot]?.successor = nil
      return [.moved(slot: slot, to: heir)] + closeRest(of: slot)
    }
    slots[slot]?.active = nil
    slots[slot]?.freedAt = now
    return [.down(slot: slot, peer: peer)]
  }

  /// Once the peer has shown that it has the link that is used, the others are closed, those that are ours to close.
  private mutating func closeRest(of slot: Int) -> [Action] {
    guard let active = slots[slot]?.active, let peer = slots[slot]?.peer, links[active]?.isConfirmed == true else {
      return []
    }
    let rest = links.filter { other, entry in
      entry.slot == slot && other != active && slots[slot]?.successor != other && !entry.isClosing
        && isOursToClose(other, for: active, peer: peer)
    }
    return rest.keys.sorted().map { close($0, .duplicate) }
  }

  /// Closes links that have not proved who is there in time.
  package mutating func expire(now: MonotonicTime) -> [Action] {
    links.filter { $0.value.slot == nil && !$0.value.isClosing && now >= Self.deadline($0.value) }
      .keys.sorted().map { close($0, .handshakeTimeout) }
  }

  /// When `expire` has something to do.
  package var deadline: MonotonicTime? {
    links.values.lazy.filter { $0.slot == nil && !$0.isClosing }.map(Self.deadline).min()
  }

  /// We are closing this link for a reason of our own.
  package mutating func close(_ id: LinkID, _ reason: CloseReason) -> Action {
    links[id]?.isClosing = true
    return .close(id, reason)
  }

  private static func deadline(_ entry: Entry) -> MonotonicTime {
    entry.openedAt.advanced(by: LinksLimits.handshakeTimeout)
  }

  /// Whether we close `link` when `survivor` stays. Which of two with different centrals stays both sides know; which
  /// of two with the same one stays its central decides, because the two sides may have seen them come up in a
  /// different order and would each close the link that the other keeps.
  private func isOursToClose(_ link: LinkID, for survivor: LinkID, peer: PeerID) -> Bool {
    guard let role = links[link]?.role, let other = links[survivor]?.role, role != other else {
      return links[link]?.role == .central
    }
    return other == preferredRole(with: peer)
  }

  private func preferredRole(with peer: PeerID) -> LinkRole { ownID < peer ? .central : .peripheral }

  private func survivor(_ active: LinkID, _ new: LinkID, peer: PeerID) -> LinkID {
    guard let activeRole = links[active]?.role, let newRole = links[new]?.role, activeRole != newRole else {
      return new
    }
    return newRole == preferredRole(with: peer) ? new : active
  }

  private mutating func claim(for peer: PeerID, now: MonotonicTime, actions: inout [Action]) -> Int? {
    if let slot = slot(of: peer) { return slot }
    if let empty = slots.firstIndex(where: { $0 == nil }) {
      slots[empty] = Slot(peer: peer, active: nil, successor: nil, freedAt: now)
      return empty
    }
    let free = slots.indices.filter { slots[$0]?.active == nil }
    guard let oldest = free.min(by: { slots[$0]!.freedAt < slots[$1]!.freedAt }) else { return nil }
    slots[oldest] = Slot(peer: peer, active: nil, successor: nil, freedAt: now)
    actions.append(.reassigned(slot: oldest))
    return oldest
  }
}

extension LinkTable.Entry {
  var isHalfOpenByOther: Bool { role == .peripheral && slot == nil && !isClosing }
}
