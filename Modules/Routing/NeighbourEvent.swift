package import Identities
package import Streams
package import WireFormat

/// What flows from the links up to the relay.
package enum NeighbourEvent: Sendable {
  /// A neighbour is there; its card was verified in the handshake.
  case up(slot: Int, card: VerifiedCard)
  case down(slot: Int, peer: PeerID)
  /// The slot belongs to another peer from now on; what was known of the old one is void.
  case reassigned(slot: Int)
  case packet(ReceivedPacket)
  /// The neighbour has taken these packets over, by `PacketID.key`.
  case acknowledged(slot: Int, keys: [UInt64])
  /// A frame of types 64 to 73.
  case control(slot: Int, LinkFrame)
}

/// A whole packet from a neighbour, its ID recomputed.
package struct ReceivedPacket: Sendable {
  package var packet: Packet
  package var id: PacketID
  package var slot: Int
  /// The number of the link it came over, for the record.
  package var link: UInt64
  package var receivedAt: MonotonicTime

  package init(packet: Packet, id: PacketID, slot: Int, link: UInt64, receivedAt: MonotonicTime) {
    self.packet = packet
    self.id = id
    self.slot = slot
    self.link = link
    self.receivedAt = receivedAt
  }
}

/// What flows from the relay down to the links.
package struct OutboundPacket: Sendable {
  package var key: UInt64
  package var kind: PacketKind
  /// As it is to be sent; its age is the one it had at `since`.
  package var bytes: [UInt8]
  package var links: LinkSet
  /// The slot of the neighbour it came from, `SeenTable.ownSlot` for what is our own or old.
  package var source: UInt8
  package var since: MonotonicTime
  package var expiry: MonotonicTime
  /// It is old news for a neighbour that came later, and goes behind what is new.
  package var isBacklog: Bool

  package init(
    key: UInt64, kind: PacketKind, bytes: [UInt8], links: LinkSet, source: UInt8 = SeenTable.ownSlot,
    since: MonotonicTime, expiry: MonotonicTime, isBacklog: Bool = false
  ) {
    self.key = key
    self.kind = kind
    self.bytes = bytes
    self.links = links
    self.source = source
    self.since = since
    self.expiry = expiry
    self.isBacklog = isBacklog
  }
}

/// A frame of types 64 to 73 for one neighbour, on its way from the relay down to the links. It may be lost.
package struct OutboundControl: Sendable {
  package var slot: Int
  package var frame: LinkFrame

  package init(slot: Int, frame: LinkFrame) {
    self.slot = slot
    self.frame = frame
  }
}

/// What flows from the relay up to the session.
package enum Delivery: Sendable {
  case neighbourUp(VerifiedCard)
  case neighbourDown(PeerID)
  /// A neighbour has taken over a packet of our own, by `PacketID.key`.
  case handedOver(key: UInt64, PeerID)
  /// A new packet for us or for everyone.
  case packet(Packet, id: PacketID, receivedAt: MonotonicTime)
  /// A packet for us that was handed up before is to be answered again.
  case answerAgain(Packet, id: PacketID, receivedAt: MonotonicTime)
}

/// One reception and what was decided about it, for the record. No payload, no key.
package struct Reception: Sendable {
  package var wallMilliseconds: UInt64
  package var link: UInt64
  package var neighbour: PeerID?
  package var kind: PacketKind
  package var id: PacketID
  /// Links the packet has crossed, this one included.
  package var hops: UInt8
  package var byteCount: Int
  package var verdict: RelayState.Verdict

  package init(
    wallMilliseconds: UInt64, link: UInt64, neighbour: PeerID?, kind: PacketKind, id: PacketID, hops: UInt8,
    byteCount: Int, verdict: RelayState.Verdict
  ) {
    self.wallMilliseconds = wallMilliseconds
    self.link = link
    self.neighbour = neighbour
    self.kind = kind
    self.id = id
    self.hops = hops
    self.byteCount = byteCount
    self.verdict = verdict
  }
}
