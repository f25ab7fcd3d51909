internal import Bytes
package import Routing
package import Streams
package import WireFormat

/// How bitchat for iOS relays, from its sources at 9b84b36, in our own words and code.
///
/// * Seven hops; a node with six links or more lets a packet go on as if it had at most five left, with three to five as
///   if six.
/// * A relay waits 10–40 ms with up to two links, 60–150 with up to five, 80–180 with up to nine, 100–220 with more. A
///   duplicate that comes meanwhile cancels it when the node has more than two links.
/// * Of the links that it opened and of those that others opened, each ⌈log2 n⌉ + 1 are sent to, chosen by a hash of
///   packet and link.
/// * Every 15 seconds, at a phase of its own, it sends each neighbour a Golomb-coded set of what it has, at most 400
///   bytes; the neighbour answers with what is missing in it, which then goes no further.
///
/// Not modelled: the limit of answers a minute, announcements, radio duty cycle, and links without acknowledgement. All
/// of that flatters it.
package struct BitchatRules: NodeRules {
  private struct Waiting: Sendable {
    var at: UInt64
    var key: UInt64
    var packet: OutboundPacket
  }

  private struct Kept: Sendable {
    var key: UInt64
    var packet: OutboundPacket
  }

  private static let hopLimit: UInt8 = 7
  static let syncFrame: UInt8 = 80
  private static let syncInterval: UInt64 = 15_000_000_000
  private static let keptLimit = 1_000

  private var opened = LinkSet.none
  private var accepted = LinkSet.none
  private var seen = KeySet()
  private var waiting: [Waiting] = []
  private var kept: [Kept] = []
  private var random: UInt64
  private var syncAt: UInt64
  private var requests: [Int: [UInt8]] = [:]

  package init(_ seed: NodeSeed) {
    random = seed.key.0
    syncAt = seed.key.1 % Self.syncInterval
  }

  private var all: LinkSet { LinkSet(bits: opened.bits | accepted.bits) }

  package mutating func neighbourUp(
    _ slot: Int, entry: UInt32, tag: Tag, isCentral: Bool, now: MonotonicTime, into actions: inout RuleActions
  ) {
    if isCentral { opened.insert(slot) } else { accepted.insert(slot) }
  }

  package mutating func neighbourDown(_ slot: Int, now: MonotonicTime, into actions: inout RuleActions) {
    opened.remove(slot)
    accepted.remove(slot)
    requests[slot] = nil
  }

  package mutating func originate(
    _ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout RuleActions
  ) {
    _ = seen.insert(id.key)
    let outbound = Self.outbound(packet, id, bytes: packet.encoded, now: now)
    keep(outbound)
    push(outbound, except: -1, into: &actions)
  }

  package mutating func receive(
    _ received: ReceivedPacket, wallMilliseconds: UInt64, into actions: inout RuleActions
  ) {
    let key = received.id.key
    guard seen.insert(key) else {
      actions.relay.append(.record(.duplicate))
      if all.count > 2 { waiting.removeAll { $0.key == key } }
      return
    }
    actions.relay.append(.record(.accepted))
    actions.relay.append(.deliver(received.packet, id: received.id, receivedAt: received.receivedAt))
    let left = Self.hopLimit - min(Self.hopLimit, received.packet.header.hops)
    var bytes = received.packet.relayed(addingAge: 0, appending: nil)
    let next = min(left, Self.clamp(links: all.count)).saturatingLess(1)
    bytes[1] = Self.hopLimit - next
    var outbound = Self.outbound(received.packet, received.id, bytes: bytes, now: received.receivedAt)
    outbound.source = UInt8(truncatingIfNeeded: received.slot)
    keep(outbound)
    guard left > 1, next > 0 else { return }
    let delay = Self.delay(links: all.count)
    let wait = delay.lowerBound + draw() % (delay.upperBound - delay.lowerBound)
    waiting.append(Waiting(at: received.receivedAt.nanoseconds + wait * 1_000_000, key: key, packet: outbound))
  }

  package mutating func nextDeadline() -> MonotonicTime? {
    MonotonicTime(nanoseconds: waiting.reduce(syncAt) { min($0, $1.at) })
  }

  package mutating func tick(now: MonotonicTime, into actions: inout RuleActions) {
    let due = waiting.filter { $0.at <= now.nanoseconds }
    if !due.isEmpty { waiting.removeAll { $0.at <= now.nanoseconds } }
    for one in due { push(one.packet, except: Int(one.packet.source), into: &actions) }
    guard syncAt <= now.nanoseconds else { return }
    syncAt = now.nanoseconds + Self.syncInterval
    let filter = GolombSet.encode(kept.suffix(GolombSet.mostKeys).map(\.key))
    var links = all
    while let slot = links.popFirst() {
      // In pieces that every frame has room for; the last says so.
      var start = 0
      repeat {
        let end = min(start + 200, filter.count)
        actions.control.append((slot, [Self.syncFrame, end == filter.count ? 1 : 0] + filter[start..<end]))
        start = end
      } while start < filter.count
    }
  }

  package mutating func control(
    _ content: [UInt8], from slot: Int, now: MonotonicTime, into actions: inout RuleActions
  ) {
    guard content.count >= 2, content[0] == Self.syncFrame else { return }
    requests[slot, default: []] += content[2...]
    guard content[1] == 1, let filter = requests.removeValue(forKey: slot) else { return }
    let has = GolombSet(decoding: filter)
    for one in kept where !has.contains(one.key) {
      var packet = one.packet
      packet.bytes[1] = Self.hopLimit
      packet.links = LinkSet(slot)
      actions.relay.append(.offer(packet))
    }
  }

  // MARK: Its rules in numbers

  static func clamp(links: Int) -> UInt8 { links >= 6 ? 5 : links >= 3 ? 6 : 7 }

  /// Milliseconds.
  static func delay(links: Int) -> Range<UInt64> {
    switch links {
    case ...2: 10..<40
    case ...5: 60..<150
    case ...9: 80..<180
    default: 100..<220
    }
  }

  static func fanOut(links: Int) -> Int {
    guard links > 1 else { return links }
    return min(links, (links - 1).bitWidth - (links - 1).leadingZeroBitCount + 1)
  }

  private func push(_ packet: OutboundPacket, except slot: Int, into actions: inout RuleActions) {
    var targets = LinkSet.none
    for group in [opened, accepted] {
      var rest = group
      if slot >= 0 { rest.remove(slot) }
      let count = Self.fanOut(links: rest.count)
      var ranked: [(rank: UInt64, slot: Int)] = []
      while let link = rest.popFirst() { ranked.append((Self.rank(packet.key, link), link)) }
      for one in ranked.sorted(by: { $0 < $1 }).prefix(count) { targets.insert(one.slot) }
    }
    guard !targets.isEmpty else { return }
    var outbound = packet
    outbound.links = targets
    actions.relay.append(.offer(outbound))
  }

  private static func rank(_ key: UInt64, _ slot: Int) -> UInt64 {
    var mixed = key &+ UInt64(slot + 1) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return mixed ^ (mixed >> 31)
  }

  private static func outbound(
    _ packet: Packet, _ id: PacketID, bytes: [UInt8], now: MonotonicTime
  ) -> OutboundPacket {
    OutboundPacket(
      key: id.key, kind: packet.header.kind, bytes: bytes, links: .none, since: now,
      expiry: now.advanced(by: .seconds(6 * 3_600)))
  }

  private mutating func keep(_ packet: OutboundPacket) {
    if kept.count >= Self.keptLimit { kept.removeFirst() }
    kept.append(Kept(key: packet.key, packet: packet))
  }

  private mutating func draw() -> UInt64 {
    random &+= 0x9E37_79B9_7F4A_7C15
    return Self.rank(random, 0)
  }
}

extension UInt8 {
  fileprivate func saturatingLess(_ other: UInt8) -> UInt8 { self > other ? self - other : 0 }
}
