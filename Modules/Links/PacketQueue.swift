internal import WireFormat

/// Packets that wait for one neighbour: control before personal before public before bulk, first come first served
/// in a class. When it is full the oldest packets of the lowest class go, be it the new one.
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
  package private(set) var count = 0
  package private(set) var byteCount = 0

  package var isEmpty: Bool { count == 0 }

  /// Puts a packet in when there is room, which is nearly always.
  ///
  /// - Returns: false when there is none; `insertMakingRoom` then decides who goes.
  package mutating func insertIfRoom(_ packet: borrowing OutgoingPacket) -> Bool {
    let size = packet.bytes.count
    guard count < LinksLimits.queuedPackets, byteCount &+ size <= LinksLimits.queuedBytes else { return false }
    lanes[Int(packet.trafficClass.rawValue)].append(copy packet)
    count &+= 1
    byteCount &+= size
    return true
  }

  /// - Returns: the packets that had to go, this one included when it had no room.
  package mutating func insert(_ packet: OutgoingPacket) -> [OutgoingPacket] {
    insertIfRoom(packet) ? [] : insertMakingRoom(packet)
  }

  private mutating func insertMakingRoom(_ packet: OutgoingPacket) -> [OutgoingPacket] {
    var victims: [OutgoingPacket] = []
    while !insertIfRoom(packet) {
      guard let lowest = lanes.lastIndex(where: { !$0.isEmpty }), lowest >= Int(packet.trafficClass.rawValue),
        let victim = take(from: lowest)
      else {
        victims.append(packet)
        return victims
      }
      victims.append(victim)
    }
    return victims
  }

  /// The packet that `popFirst` gives.
  package var first: OutgoingPacket? {
    for lane in lanes where !lane.isEmpty { return lane.packets[lane.head] }
    return nil
  }

  package mutating func popFirst() -> OutgoingPacket? {
    for lane in lanes.indices {
      if let packet = take(from: lane) { return packet }
    }
    return nil
  }

  private mutating func take(from lane: Int) -> OutgoingPacket? {
    guard let packet = lanes[lane].popFirst() else { return nil }
    count -= 1
    byteCount -= packet.bytes.count
    return packet
  }
}
