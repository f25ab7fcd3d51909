internal import Bytes
internal import Routing
package import Streams
package import WireFormat

/// A packet on its way to one neighbour.
package struct OutgoingPacket: Sendable {
  /// `PacketID.key`: names the packet on the link.
  package var key: UInt64
  /// The encoded packet; its age is the one it had at `since`.
  package var bytes: [UInt8]
  package var trafficClass: TrafficClass
  /// The slot of the neighbour it came from, `SeenTable.ownSlot` for what is our own.
  package var source: UInt8
  /// Since when this node holds it, for the age that is written when it leaves.
  package var since: MonotonicTime
  /// When its lifetime ends; it is not sent any more then.
  package var expiry: MonotonicTime

  package init(
    key: UInt64, bytes: [UInt8], trafficClass: TrafficClass, source: UInt8 = SeenTable.ownSlot, since: MonotonicTime,
    expiry: MonotonicTime
  ) {
    self.key = key
    self.bytes = bytes
    self.trafficClass = trafficClass
    self.source = source
    self.since = since
    self.expiry = expiry
  }

  /// Who has made it, as the packet says.
  var origin: Tag? { try? PacketHeader(decoding: bytes.rawSpan).origin }
}

/// Why a packet was not, or not yet, handed to a neighbour.
package enum QueueDrop: String, Sendable, CaseIterable {
  /// The queue was full of packets at least as urgent.
  case queueFull
  /// Its lifetime ended while it waited.
  case expired
  /// The neighbour never acknowledged it although the link is up.
  case unacknowledged
  /// It is larger than a packet may be.
  case tooLong
  /// The link went down; the relay offers the packet again when it is back.
  case linkDown
  /// Its author was blocked while it waited.
  case originBlocked
  /// A frame of the link's own, or of the trees, that was pushed out by later ones.
  case controlFull
}
