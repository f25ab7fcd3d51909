internal import WireFormat

/// Packets that wait for one neighbour.
///
/// From one source, which is a neighbour or this node, control goes before personal before public before bulk, first
/// come first served in a class. Between sources the link is shared by bytes: what is more urgent may run ahead of
/// another source's by `LinksLimits.sourceLead` and no further, so that a neighbour that floods, whatever it calls
/// urgent, costs the others a packet's time. Bulk goes when nothing else waits.
///
/// When it is full the source that holds most pays, with the oldest packets of its lowest class.
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

  /// What waits from one source. Stays when it is empty: there are no more sources than slots.
  private struct Line: Sendable {
    let source: UInt8
    var lanes = [Lane](repeating: Lane(), count: TrafficClass.allCases.count)
    var byteCount = 0
    /// Bytes that have left, moved up to the others' when the line was empty: time without demand is no credit.
    var served = 0

    var highest: Int? { lanes.indices.first { !lanes[$0].isEmpty } }
    var lowest: Int? { lanes.indices.last { !lanes[$0].isEmpty } }
  }

  private static let bulk = Int(TrafficClass.bulk.rawValue)

  package init() {}

  private var lines: [Line] = []
  package private(set) var count = 0
  package private(set) var byteCount = 0

  package var isEmpty: Bool { count == 0 }

  /// Puts a packet in when there is room, which is nearly always.
  ///
  /// - Returns: false when there is none; `insertMakingRoom` then decides who goes.
  package mutating func insertIfRoom(_ packet: borrowing OutgoingPacket) -> Bool {
    let size = packet.bytes.count
    guard count < LinksLimits.queuedPackets, byteCount &+ size <= LinksLimits.queuedBytes else { return false }
    let line = line(of: packet.source)
    if lines[line].byteCount == 0 { lines[line].served = max(lines[line].served, leastServed ?? 0) }
    lines[line].lanes[Int(packet.trafficClass.rawValue)].append(copy packet)
    lines[line].byteCount &+= size
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
      guard let (line, lane) = victim(for: packet), let victim = take(from: line, lane) else {
        victims.append(packet)
        return victims
      }
      victims.append(victim)
    }
    return victims
  }

  /// - Returns: how many went.
  mutating func removeAll(where isMeant: (OutgoingPacket) -> Bool) -> Int {
    let before = count
    for line in lines.indices {
      for lane in lines[line].lanes.indices {
        let kept = lines[line].lanes[lane].packets.compactMap { $0 }.filter { packet in
          guard isMeant(packet) else { return true }
          lines[line].byteCount -= packet.bytes.count
          byteCount -= packet.bytes.count
          count -= 1
          return false
        }
        lines[line].lanes[lane] = Lane(packets: kept)
      }
    }
    return before - count
  }

  /// The packet that `popFirst` gives.
  package var first: OutgoingPacket? {
    guard let (line, lane) = next else { return nil }
    return lines[line].lanes[lane].packets[lines[line].lanes[lane].head]
  }

  package mutating func popFirst() -> OutgoingPacket? {
    guard let (line, lane) = next, let packet = take(from: line, lane) else { return nil }
    lines[line].served &+= packet.bytes.count
    return packet
  }

  /// Of the sources that are not ahead of others by too much the one with the most urgent packet, and of two the one
  /// that had less.
  private var next: (line: Int, lane: Int)? {
    guard count > 0 else { return nil }
    if lines.count == 1 { return lines[0].highest.map { (0, $0) } }
    var chosen: (line: Int, lane: Int)?
    let limit = (leastServed ?? 0) &+ LinksLimits.sourceLead
    for line in lines.indices where lines[line].byteCount > 0 {
      guard let lane = lines[line].highest else { continue }
      guard let (best, bestLane) = chosen else {
        chosen = (line, lane)
        continue
      }
      let (isEager, isBestEager) = (lane < Self.bulk, bestLane < Self.bulk)
      if isEager != isBestEager {
        if isEager { chosen = (line, lane) }
        continue
      }
      let (isDue, isBestDue) = (lines[line].served <= limit, lines[best].served <= limit)
      if isDue != isBestDue {
        if isDue { chosen = (line, lane) }
        continue
      }
      if (lane, lines[line].served) < (bestLane, lines[best].served) { chosen = (line, lane) }
    }
    return chosen
  }

  /// What had least among the sources that wait: of those with something before bulk, if there are such.
  private var leastServed: Int? {
    var eager: Int?
    var any: Int?
    for line in lines.indices where lines[line].byteCount > 0 {
      guard let lane = lines[line].highest else { continue }
      let served = lines[line].served
      any = min(any ?? .max, served)
      if lane < Self.bulk { eager = min(eager ?? .max, served) }
    }
    return eager ?? any
  }

  /// Who goes for this packet: bulk first, then what the source with most bytes holds, oldest of its lowest class. From
  /// one source nothing goes for what is less urgent, and nothing at all goes for bulk but bulk.
  private func victim(for packet: borrowing OutgoingPacket) -> (line: Int, lane: Int)? {
    let own = Int(packet.trafficClass.rawValue)
    var heaviest: Int?
    var heaviestBulk: Int?
    for line in lines.indices {
      if heaviest.map({ lines[$0].byteCount < lines[line].byteCount }) ?? true { heaviest = line }
      guard !lines[line].lanes[Self.bulk].isEmpty else { continue }
      if heaviestBulk.map({ lines[$0].byteCount < lines[line].byteCount }) ?? true { heaviestBulk = line }
    }
    if let heaviestBulk { return (heaviestBulk, Self.bulk) }
    guard own < Self.bulk, let heaviest, let lane = lines[heaviest].lowest else { return nil }
    return lines[heaviest].source != packet.source || lane >= own ? (heaviest, lane) : nil
  }

  private mutating func line(of source: UInt8) -> Int {
    if let line = lines.firstIndex(where: { $0.source == source }) { return line }
    lines.append(Line(source: source))
    return lines.count - 1
  }

  private mutating func take(from line: Int, _ lane: Int) -> OutgoingPacket? {
    guard let packet = lines[line].lanes[lane].popFirst() else { return nil }
    lines[line].byteCount -= packet.bytes.count
    count -= 1
    byteCount -= packet.bytes.count
    return packet
  }
}
