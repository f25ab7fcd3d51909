package import Routing
package import Streams
package import WireFormat

/// The flood every other rule is held against: what is new goes to all links but the one it came over. Nothing is kept
/// for those who come later.
package struct FloodRules: NodeRules {
  /// Links a packet may cross; nil for any number. The first copy decides.
  private let hopLimit: UInt8?
  private var links = LinkSet.none
  private var seen = KeySet()

  package init(_ seed: NodeSeed) { hopLimit = nil }

  init(hopLimit: UInt8) { self.hopLimit = hopLimit }

  package mutating func neighbourUp(
    _ slot: Int, entry: UInt32, tag: Tag, isCentral: Bool, now: MonotonicTime, into actions: inout RuleActions
  ) { links.insert(slot) }

  package mutating func neighbourDown(_ slot: Int, now: MonotonicTime, into actions: inout RuleActions) {
    links.remove(slot)
  }

  package mutating func receive(
    _ received: ReceivedPacket, wallMilliseconds: UInt64, into actions: inout RuleActions
  ) {
    guard seen.insert(received.id.key) else {
      actions.relay.append(.record(.duplicate))
      return
    }
    actions.relay.append(.record(.accepted))
    actions.relay.append(.deliver(received.packet, id: received.id, receivedAt: received.receivedAt))
    // The copy has crossed one link more than its sender wrote.
    if let hopLimit, received.packet.header.hops &+ 1 >= hopLimit { return }
    var targets = links
    targets.remove(received.slot)
    actions.offer(
      received.packet, received.id, bytes: received.packet.relayed(addingAge: 0, appending: nil), to: targets,
      from: received.slot, now: received.receivedAt)
  }

  package mutating func originate(
    _ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout RuleActions
  ) {
    _ = seen.insert(id.key)
    actions.offer(packet, id, bytes: packet.encoded, to: links, from: Int(SeenTable.ownSlot), now: now)
  }
}

/// The same with at most seven links for a packet, as most meshes of phones have it.
package struct SevenHopRules: NodeRules {
  private var flood = FloodRules(hopLimit: 7)

  package init(_ seed: NodeSeed) {}

  package mutating func neighbourUp(
    _ slot: Int, entry: UInt32, tag: Tag, isCentral: Bool, now: MonotonicTime, into actions: inout RuleActions
  ) { flood.neighbourUp(slot, entry: entry, tag: tag, isCentral: isCentral, now: now, into: &actions) }

  package mutating func neighbourDown(_ slot: Int, now: MonotonicTime, into actions: inout RuleActions) {
    flood.neighbourDown(slot, now: now, into: &actions)
  }

  package mutating func receive(
    _ received: ReceivedPacket, wallMilliseconds: UInt64, into actions: inout RuleActions
  ) { flood.receive(received, wallMilliseconds: wallMilliseconds, into: &actions) }

  package mutating func originate(
    _ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout RuleActions
  ) { flood.originate(packet, id: id, now: now, into: &actions) }
}

extension RuleActions {
  /// Passes a packet on.
  mutating func offer(
    _ packet: Packet, _ id: PacketID, bytes: [UInt8], to links: LinkSet, from slot: Int, now: MonotonicTime
  ) {
    guard !links.isEmpty else { return }
    relay.append(
      .offer(
        OutboundPacket(
          key: id.key, kind: packet.header.kind, bytes: bytes, links: links,
          source: UInt8(truncatingIfNeeded: slot), since: now,
          expiry: now.advanced(by: .milliseconds(Int64(packet.header.kind.lifetime))))))
  }
}

/// Keys that were seen: open addressing, without the seed of this process that `Set` has.
struct KeySet: Sendable {
  private var places = [UInt64](repeating: 0, count: 16)
  private(set) var count = 0

  /// - Returns: whether it is new.
  mutating func insert(_ key: UInt64) -> Bool {
    let key = key == 0 ? 1 : key
    var place = find(key)
    guard places[place] != key else { return false }
    if count * 2 >= places.count {
      let old = places
      places = [UInt64](repeating: 0, count: old.count * 2)
      for known in old where known != 0 { places[find(known)] = known }
      place = find(key)
    }
    places[place] = key
    count += 1
    return true
  }

  func contains(_ key: UInt64) -> Bool { places[find(key == 0 ? 1 : key)] != 0 }

  private func find(_ key: UInt64) -> Int {
    var place = Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 16) & (places.count - 1)
    while places[place] != 0, places[place] != key { place = (place + 1) & (places.count - 1) }
    return place
  }
}
