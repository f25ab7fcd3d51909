internal import WireFormat

/// Packets that wait for one neighbour: control before personal before public before bulk, first come first served
/// in a class. When it is full the oldest packet of the lowest class goes, be it the new one.
package struct PacketQueue: Sendable {
  private struct Lane: Sendable {
    var packets: [OutgoingPacket?] = []
    var head = 0

    var isEmpty: Bool { head == packets.count }

    mutating func append(_ packet: OutgoingPacket) { packets.append(packet) }

    mutating func popFirst() -> OutgoingPacket? {
      guard head < packets.count else { return nil }
      let packet = packets[head].take()
      head += 1
      if head == packets.count {
        packets.removeAll(keepingCapacity: true)
        head = 0
      } else if head >= 256, head * 2 >= packets.count {
        packets.removeFirst(head)
        head = 0
      }
      return packet
    }
  }

  package init() {}

  private var lanes = [Lane](repeating: Lane(), count: TrafficClass.allCases.count)
  private(set) var count = 0
  private(set) var byteCount = 0

  var isEmpty: Bool { count == 0 }

  /// - Returns: the packet that had to go, if one had to.
  package mutating func insert(_ packet: OutgoingPacket) -> OutgoingPacket? {
    var victim: OutgoingPacket?
    if count >= LinksLimits.queuedPackets || byteCount + packet.bytes.count > LinksLimits.queuedBytes {
      let lowest = lanes.lastIndex { !$0.isEmpty } ?? 0
      guard lowest >= Int(packet.trafficClass.rawValue) else { return packet }
      victim = lanes[lowest].popFirst()
      count -= 1
      byteCount -= victim?.bytes.count ?? 0
    }
    lanes[Int(packet.trafficClass.rawValue)].append(packet)
    count += 1
    byteCount += packet.bytes.count
    return victim
  }

  package mutating func popFirst() -> OutgoingPacket? {
    for lane in lanes.indices {
      guard let packet = lanes[lane].popFirst() else { continue }
      count -= 1
      byteCount -= packet.bytes.count
      return packet
    }
    return nil
  }
}
