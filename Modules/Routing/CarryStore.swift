package import Streams
package import WireFormat

/// A packet kept for neighbours that are still to come.
package struct CarriedPacket: Sendable {
  package var id: PacketID
  package var kind: PacketKind
  package var origin: Tag
  /// As it goes out from here; its age is the one it had at `since`.
  package var bytes: [UInt8]
  package var since: MonotonicTime
  package var expiry: MonotonicTime
  /// The ten minutes it was made in, by the time that its origin has written.
  package var unit: UInt32
  /// Slots of the neighbours that have it, by what they sent or acknowledged.
  package var holders: LinkSet
  /// How far it goes from here. What goes by a lane is no news for anybody else: it is neither compared nor given to who comes.
  package var scope: PacketScope
  /// The slot of the neighbour it came from first, `SeenTable.ownSlot` for what is our own.
  package var source: UInt8

  package init(
    id: PacketID, kind: PacketKind, origin: Tag, bytes: [UInt8], since: MonotonicTime, expiry: MonotonicTime,
    unit: UInt32 = 0, holders: LinkSet, scope: PacketScope = .everybody, source: UInt8 = SeenTable.ownSlot
  ) {
    self.scope = scope
    self.source = source
    self.id = id
    self.kind = kind
    self.origin = origin
    self.bytes = bytes
    self.since = since
    self.expiry = expiry
    self.unit = unit
    self.holders = holders
  }
}

/// Keeps the packets of late and knows which neighbour has which, so that a neighbour that comes, or comes back, gets
/// what it misses and nothing else.
///
/// Bounded by number and by bytes; the oldest goes first, and it is counted. Of a peer's cards only the newest stays.
/// A ring beside one table, both grown as they fill: a node in a quiet place pays for what it holds, and nothing is
/// allocated per packet once they are warm.
package struct CarryStore: Sendable {
  private var ring: [CarriedPacket?]
  private var head = 0
  private var count = 0
  private var places: [UInt64: Int] = [:]
  private var cards: [Tag: UInt64] = [:]
  private let packetLimit: Int
  private let byteLimit: Int
  package private(set) var byteCount = 0
  /// Their keys, for the comparison with neighbours.
  package private(set) var set = PacketSet()
  private var gone = MetKeys(limit: RoutingLimits.goneKeys)
  /// Packets that went before their lifetime was over, for want of room.
  package private(set) var evicted: UInt64 = 0

  package init(
    packetLimit: Int = RoutingLimits.carriedPackets, byteLimit: Int = RoutingLimits.carriedBytes
  ) {
    self.packetLimit = max(1, packetLimit)
    self.byteLimit = byteLimit
    ring = []
  }

  /// Packets kept now.
  package var packetCount: Int { places.count }

  package mutating func insert(_ packet: CarriedPacket) {
    guard places[packet.id.key] == nil, packet.bytes.count <= byteLimit else { return }
    if packet.kind == .card, let old = cards.updateValue(packet.id.key, forKey: packet.origin) { remove(old) }
    while count == packetLimit || byteCount + packet.bytes.count > byteLimit { dropOldest() }
    if count == ring.count { grow() }
    let place = (head + count) % ring.count
    ring[place] = packet
    count += 1
    places[packet.id.key] = place
    byteCount += packet.bytes.count
    if packet.scope == .everybody { set.insert(packet.id.key, unit: packet.unit) }
  }

  /// A packet that is kept goes further from now on.
  ///
  /// - Returns: it, as it goes out from now on; nil when it is not kept, or goes as far already.
  package mutating func widen(_ key: UInt64, to scope: PacketScope) -> CarriedPacket? {
    guard let place = places[key], let known = ring[place], known.scope < scope else { return nil }
    ring[place]!.scope = scope
    Packet.setScope(&ring[place]!.bytes, at: 0, to: scope)
    if scope == .everybody { set.insert(key, unit: known.unit) }
    return ring[place]
  }

  /// Whether a packet is kept, or was.
  package func hasMet(_ key: UInt64) -> Bool { places[key] != nil || gone.contains(key) }

  /// What is over its lifetime goes: nobody would take it.
  package mutating func purge(now: MonotonicTime) {
    for packet in ring { if let packet, packet.expiry <= now { remove(packet.id.key) } }
  }

  package subscript(key: UInt64) -> CarriedPacket? { places[key].flatMap { ring[$0] } }

  /// The neighbour in `slot` has this packet.
  package mutating func mark(_ key: UInt64, heldBy slot: Int) {
    if let place = places[key] { ring[place]?.holders.insert(slot) }
  }

  /// The slot belongs to another neighbour now.
  package mutating func forgetHolder(_ slot: Int) {
    for place in places.values { ring[place]?.holders.remove(slot) }
  }

  /// What the neighbour in `slot` misses, oldest first.
  package func missing(at slot: Int, now: MonotonicTime) -> [CarriedPacket] {
    var packets: [CarriedPacket] = []
    for offset in 0..<count {
      guard let packet = ring[(head + offset) % ring.count] else { continue }
      guard packet.scope == .everybody else { continue }
      if !packet.holders.contains(slot), packet.expiry > now { packets.append(packet) }
    }
    return packets
  }

  /// Nothing of these origins is kept any more.
  ///
  /// - Returns: the keys of what went.
  package mutating func remove(of origins: Set<Tag>) -> [UInt64] {
    let keys = places.filter { _, place in ring[place].map { origins.contains($0.origin) } == true }.keys.sorted()
    for key in keys { remove(key) }
    return keys
  }

  /// Twice as many places, the oldest packet at the first.
  private mutating func grow() {
    let size = min(packetLimit, max(16, ring.count * 2))
    var wider: [CarriedPacket?] = []
    wider.reserveCapacity(size)
    for offset in 0..<count {
      let packet = ring[(head + offset) % ring.count]
      if let packet { places[packet.id.key] = offset }
      wider.append(packet)
    }
    wider.append(contentsOf: repeatElement(nil, count: size - count))
    ring = wider
    head = 0
  }

  private mutating func dropOldest() {
    guard count > 0 else { return }
    if let packet = ring[head] {
      evicted += 1
      remove(packet.id.key)
    }
    head = (head + 1) % ring.count
    count -= 1
  }

  private mutating func remove(_ key: UInt64) {
    guard let place = places.removeValue(forKey: key), let packet = ring[place].take() else { return }
    byteCount -= packet.bytes.count
    if packet.scope == .everybody { set.remove(key, unit: packet.unit) }
    gone.insert(key)
    if packet.kind == .card, cards[packet.origin] == key { cards[packet.origin] = nil }
  }
}
