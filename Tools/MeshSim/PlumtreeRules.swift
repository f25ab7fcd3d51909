internal import Bytes
package import Routing
package import Streams
package import WireFormat

/// Plumtree (Leitão, Pereira, Rodrigues, 2007): one tree for all origins. What is new is pushed over the eager links; over
/// the lazy ones only its key goes. A duplicate makes its link lazy at both ends; a key whose packet does not come makes
/// the link it came over eager, and the packet is asked for.
package struct PlumtreeRules: NodeRules {
  private struct Missing: Sendable {
    var key: UInt64
    var slots: [Int]
    var at: UInt64
  }

  private enum Frame: UInt8 {
    case have = 81
    case graft = 82
    case prune = 83
  }

  /// Keys wait so long for company; a packet may come so long after its key; and that long after it was asked for.
  private static let haveDelay: UInt64 = 200_000_000
  private static let firstPatience: UInt64 = 500_000_000
  private static let laterPatience: UInt64 = 250_000_000
  private static let keptLimit = 1_024

  private var eager = LinkSet.none
  private var lazy = LinkSet.none
  private var seen = KeySet()
  private var kept: [OutboundPacket] = []
  private var missing: [Missing] = []
  private var news: [(key: UInt64, slot: Int)] = []
  private var haveAt = UInt64.max

  package init(_ seed: NodeSeed) {}

  package mutating func neighbourUp(
    _ slot: Int, entry: UInt32, tag: Tag, isCentral: Bool, now: MonotonicTime, into actions: inout RuleActions
  ) { eager.insert(slot) }

  package mutating func neighbourDown(_ slot: Int, now: MonotonicTime, into actions: inout RuleActions) {
    eager.remove(slot)
    lazy.remove(slot)
    for index in missing.indices { missing[index].slots.removeAll { $0 == slot } }
  }

  package mutating func originate(
    _ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout RuleActions
  ) {
    _ = seen.insert(id.key)
    push(packet, id, bytes: packet.encoded, from: Int(SeenTable.ownSlot), now: now, into: &actions)
  }

  package mutating func receive(
    _ received: ReceivedPacket, wallMilliseconds: UInt64, into actions: inout RuleActions
  ) {
    let slot = received.slot
    guard seen.insert(received.id.key) else {
      actions.relay.append(.record(.duplicate))
      makeLazy(slot)
      actions.control.append((slot, [Frame.prune.rawValue]))
      return
    }
    actions.relay.append(.record(.accepted))
    actions.relay.append(.deliver(received.packet, id: received.id, receivedAt: received.receivedAt))
    missing.removeAll { $0.key == received.id.key }
    makeEager(slot)
    push(
      received.packet, received.id, bytes: received.packet.relayed(addingAge: 0, appending: nil), from: slot,
      now: received.receivedAt, into: &actions)
  }

  private mutating func push(
    _ packet: Packet, _ id: PacketID, bytes: [UInt8], from slot: Int, now: MonotonicTime,
    into actions: inout RuleActions
  ) {
    var targets = eager
    targets.remove(slot)
    actions.offer(packet, id, bytes: bytes, to: targets, from: slot, now: now)
    var rest = lazy
    rest.remove(slot)
    while let link = rest.popFirst() { news.append((id.key, link)) }
    if !news.isEmpty { haveAt = min(haveAt, now.nanoseconds + Self.haveDelay) }
    if kept.count >= Self.keptLimit { kept.removeFirst(Self.keptLimit / 4) }
    kept.append(
      OutboundPacket(
        key: id.key, kind: packet.header.kind, bytes: bytes, links: .none, since: now,
        expiry: now.advanced(by: .seconds(6 * 3_600))))
  }

  private mutating func makeLazy(_ slot: Int) {
    guard eager.contains(slot) else { return }
    eager.remove(slot)
    lazy.insert(slot)
  }

  private mutating func makeEager(_ slot: Int) {
    guard lazy.contains(slot) else { return }
    lazy.remove(slot)
    eager.insert(slot)
  }

  package mutating func control(
    _ content: [UInt8], from slot: Int, now: MonotonicTime, into actions: inout RuleActions
  ) {
    switch content.first.flatMap({ Frame(rawValue: $0) }) {
    case .prune: makeLazy(slot)
    case .graft:
      makeEager(slot)
      for key in keys(content) {
        guard var packet = kept.last(where: { $0.key == key }) else { continue }
        packet.links = LinkSet(slot)
        actions.relay.append(.offer(packet))
      }
    case .have:
      for key in keys(content) where !seen.contains(key) {
        if let known = missing.firstIndex(where: { $0.key == key }) {
          missing[known].slots.append(slot)
        } else {
          missing.append(Missing(key: key, slots: [slot], at: now.nanoseconds + Self.firstPatience))
        }
      }
    case nil: break
    }
  }

  private func keys(_ content: [UInt8]) -> [UInt64] {
    let span = content.rawSpan
    return stride(from: 1, to: content.count - 7, by: 8).map { span.number(UInt64.self, at: $0) }
  }

  package mutating func nextDeadline() -> MonotonicTime? {
    let earliest = missing.reduce(haveAt) { min($0, $1.at) }
    return earliest == .max ? nil : MonotonicTime(nanoseconds: earliest)
  }

  package mutating func tick(now: MonotonicTime, into actions: inout RuleActions) {
    if haveAt <= now.nanoseconds {
      haveAt = .max
      announce(into: &actions)
    }
    for index in missing.indices where missing[index].at <= now.nanoseconds {
      guard !missing[index].slots.isEmpty else { continue }
      let slot = missing[index].slots.removeFirst()
      missing[index].at = now.nanoseconds + Self.laterPatience
      makeEager(slot)
      var content = [Frame.graft.rawValue]
      content.append(bigEndian: missing[index].key)
      actions.control.append((slot, content))
    }
    missing.removeAll { $0.at <= now.nanoseconds }
  }

  private mutating func announce(into actions: inout RuleActions) {
    news.sort { ($0.slot, $0.key) < ($1.slot, $1.key) }
    var start = 0
    while start < news.count {
      let slot = news[start].slot
      var content = [Frame.have.rawValue]
      while start < news.count, news[start].slot == slot, content.count + 8 <= 200 {
        content.append(bigEndian: news[start].key)
        start += 1
      }
      actions.control.append((slot, content))
    }
    news.removeAll(keepingCapacity: true)
  }
}
