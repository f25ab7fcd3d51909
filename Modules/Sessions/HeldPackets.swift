package import Streams
package import WireFormat

/// Packets for us whose author's card is not here yet: they wait, unread and unshown, and go in the order they came.
///
/// Bounded by number, bytes and time; the oldest goes first. Pure.
package struct HeldPackets: Sendable {
  package struct Held: Sendable {
    package var packet: Packet
    package var id: PacketID
    package var receivedAt: MonotonicTime
  }

  private var held: [Held] = []
  private var byteCount = 0
  /// Packets that went without having been read.
  package private(set) var dropped: UInt64 = 0

  package init() {}

  package var count: Int { held.count }

  package mutating func hold(_ packet: Packet, id: PacketID, receivedAt: MonotonicTime) {
    held.append(Held(packet: packet, id: id, receivedAt: receivedAt))
    byteCount += packet.encoded.count
    while held.count > SessionsLimits.heldPackets || byteCount > SessionsLimits.heldBytes { dropFirst() }
  }

  /// Takes out what a peer with this tag wrote.
  package mutating func take(origin: Tag) -> [Held] {
    let taken = held.filter { $0.packet.header.origin == origin }
    held.removeAll { $0.packet.header.origin == origin }
    for one in taken { byteCount -= one.packet.encoded.count }
    return taken
  }

  package mutating func expire(now: MonotonicTime) {
    while let first = held.first, now.since(first.receivedAt) >= SessionsLimits.heldFor { dropFirst() }
  }

  /// When `expire` has something to do.
  package var deadline: MonotonicTime? { held.first?.receivedAt.advanced(by: SessionsLimits.heldFor) }

  private mutating func dropFirst() {
    byteCount -= held.removeFirst().packet.encoded.count
    dropped += 1
  }
}
