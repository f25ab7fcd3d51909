import Routing
import Streams
import TestKit
import Testing
import WireFormat

/// `#expect` for what changes what it looks at.
func check(_ isRight: Bool, _ comment: String = "", at location: SourceLocation = #_sourceLocation) {
  #expect(isRight, "\(comment)", sourceLocation: location)
}

/// Some relays and the links between them, in virtual time: every frame takes `delay` of its link and arrives in order.
struct EngineMesh {
  enum Load {
    case packet(OutboundPacket)
    case control(LinkFrame)
  }

  struct Event {
    var at: MonotonicTime
    var number: Int
    var from: Int
    var to: Int
    var load: Load
  }

  static let hour: UInt64 = 3_600_000_000_000

  var engines: [RelayEngine]
  /// neighbours[node][slot] is another node, −1 when the link is down.
  var neighbours: [[Int]]
  var events: [Event] = []
  var now = MonotonicTime(nanoseconds: EngineMesh.hour)
  /// Nanoseconds from one node to another, both ways the same.
  var delays: [Int: UInt64] = [:]
  /// Which frames are lost.
  var isLost: (Event) -> Bool = { _ in false }
  private var number = 0
  /// Packets sent and delivered, by key.
  private(set) var sends: [UInt64: Int] = [:]
  private(set) var reached: [UInt64: Set<Int>] = [:]
  private(set) var counts: [RelayCount: UInt64] = [:]
  /// Packets for one node that are answered, by key, and how often answers were asked for again.
  private(set) var answered: [UInt64: MonotonicTime] = [:]
  private(set) var askedAgain: [UInt64: Int] = [:]
  /// Nodes that take over what is for another node and drop it.
  var swallowing: Set<Int> = []
  var isAnswering = true
  private var answers: [(node: Int, packet: Packet, key: UInt64)] = []
  private var made: UInt64 = 0
  private let withoutTrees: Set<Int>

  init(_ count: Int, edges: [(Int, Int)], withoutTrees: Set<Int> = [], seed: UInt64 = 1) {
    self.withoutTrees = withoutTrees
    engines = []
    for node in 0..<count {
      let key: (UInt64, UInt64) = (UInt64(node) &* 77 &+ 3, UInt64(node) &* 99 &+ seed)
      let configuration = RelayEngine.Configuration(
        key: key, ownEntry: UInt32(node + 1), ownTag: Self.tag(node), usesTrees: !withoutTrees.contains(node))
      engines.append(RelayEngine(configuration: configuration))
    }
    neighbours = Array(repeating: [], count: count)
    var generator = SeededGenerator(seed: seed)
    for (one, other) in edges {
      delays[min(one, other) * 1_000 + max(one, other)] = UInt64.random(in: 2_000_000..<30_000_000, using: &generator)
      link(one, other)
    }
    run(for: .seconds(3))
  }

  static func tag(_ node: Int) -> WireFormat.Tag { WireFormat.Tag(rawValue: UInt64(node) + 1) }

  static func ring(_ count: Int) -> [(Int, Int)] { (0..<count).map { ($0, ($0 + 1) % count) } }

  static func grid(_ side: Int) -> [(Int, Int)] {
    var edges: [(Int, Int)] = []
    for node in 0..<side * side {
      if node % side + 1 < side { edges.append((node, node + 1)) }
      if node + side < side * side { edges.append((node, node + side)) }
    }
    return edges
  }

  // MARK: Links

  mutating func link(_ one: Int, _ other: Int) {
    for (node, peer) in [(one, other), (other, one)] {
      if !neighbours[node].contains(peer) { neighbours[node].append(peer) }
    }
    for (node, peer) in [(one, other), (other, one)] {
      let slot = slot(of: peer, at: node)
      act(node) { $0.neighbourUp(slot, entry: UInt32(peer + 1), now: $1, into: &$2) }
    }
  }

  mutating func cut(_ one: Int, _ other: Int) {
    events.removeAll { ($0.from, $0.to) == (one, other) || ($0.from, $0.to) == (other, one) }
    for (node, peer) in [(one, other), (other, one)] {
      guard let slot = neighbours[node].firstIndex(of: peer) else { continue }
      neighbours[node][slot] = -1
      act(node) { $0.neighbourDown(slot, now: $1, into: &$2) }
      act(node) { engine, _, _ in engine.reassigned(slot) }
    }
  }

  func slot(of peer: Int, at node: Int) -> Int { neighbours[node].firstIndex(of: peer) ?? -1 }

  // MARK: What happens

  /// Something is said.
  ///
  /// - Returns: its key.
  @discardableResult
  mutating func say(_ node: Int, as origin: WireFormat.Tag? = nil) throws -> UInt64 {
    made += 1
    let packet = try PacketDraft(
      kind: .public, time: 1_767_225_600_000, origin: origin ?? Self.tag(node), body: [UInt8(truncatingIfNeeded: made)]
    ).signed { _ in [UInt8](repeating: 0, count: 64) }
    let id = PacketID(high: made &* 0x9E37_79B9_7F4A_7C15, low: made)
    reached[id.key] = [node]
    act(node) { _ = $0.originate(packet, id: id, now: $1, into: &$2) }
    return id.key
  }

  /// Says something to one node, which answers.
  ///
  /// - Returns: its key.
  @discardableResult
  mutating func whisper(_ node: Int, to other: Int, kind: PacketKind = .personal, about: UInt64 = 0) throws -> UInt64 {
    made += 1
    let packet = try PacketDraft(
      kind: kind, time: 1_767_225_600_000, origin: Self.tag(node), destination: Self.tag(other),
      body: (0..<8).map { UInt8(truncatingIfNeeded: about >> (8 * UInt64($0))) } + [UInt8(truncatingIfNeeded: made)]
    ).unsigned()
    let id = PacketID(high: made &* 0x9E37_79B9_7F4A_7C15, low: made)
    reached[id.key] = [node]
    act(node) { _ = $0.originate(packet, id: id, now: $1, into: &$2) }
    return id.key
  }

  /// Says something to one node, waits, and tells how often it was sent and whether an answer came.
  mutating func ask(_ node: Int, _ other: Int, wait: Duration = .seconds(3)) throws -> (sends: Int, isAnswered: Bool) {
    let key = try whisper(node, to: other)
    run(for: wait)
    return (sends[key] ?? 0, answered[key] != nil)
  }

  /// Says something, waits, and tells how often it was sent.
  mutating func spread(_ node: Int, wait: Duration = .seconds(3)) throws -> (sends: Int, reached: Int) {
    let key = try say(node)
    run(for: wait)
    return (sends[key] ?? 0, reached[key]?.count ?? 0)
  }

  mutating func inject(_ frame: LinkFrame, from: Int, to: Int) { send(.control(frame), from: from, to: to) }

  mutating func run(for duration: Duration) {
    let end = now.advanced(by: duration)
    while true {
      let event = events.indices.min { (events[$0].at, events[$0].number) < (events[$1].at, events[$1].number) }
      let due = engines.indices.min { (engines[$0].deadline ?? .never) < (engines[$1].deadline ?? .never) }!
      let (eventAt, dueAt) = (event.map { events[$0].at } ?? .never, engines[due].deadline ?? .never)
      guard min(eventAt, dueAt) <= end else { break }
      now = max(now, min(eventAt, dueAt))
      if dueAt <= eventAt {
        act(due) { $0.tick(now: $1, wallMilliseconds: 1_700_000_000_000, into: &$2) }
      } else if let event {
        arrive(events.remove(at: event))
      }
      answerAll()
    }
    now = end
  }

  private mutating func arrive(_ event: Event) {
    let slot = slot(of: event.from, at: event.to)
    guard slot >= 0 else { return }
    switch event.load {
    case .control(let frame):
      act(event.to) { $0.control(frame, from: slot, now: $1, into: &$2) }
    case .packet(let outbound):
      guard let packet = try? Packet(decoding: outbound.bytes) else { return }
      if swallowing.contains(event.to), packet.header.isForOne {
        let back = self.slot(of: event.to, at: event.from)
        if back >= 0 { act(event.from) { $0.acknowledged(back, keys: [outbound.key], into: &$2) } }
        return
      }
      let low = outbound.key &* 0xF1DE_83E1_9937_733D
      let received = ReceivedPacket(
        packet: packet, id: PacketID(high: outbound.key, low: low), slot: slot, link: 1, receivedAt: now)
      act(event.to) { $0.receive(received, wallMilliseconds: nil, into: &$2) }
      let back = self.slot(of: event.to, at: event.from)
      if back >= 0 { act(event.from) { $0.acknowledged(back, keys: [outbound.key], into: &$2) } }
    }
  }

  private mutating func act(
    _ node: Int, _ change: (inout RelayEngine, MonotonicTime, inout [RelayAction]) -> Void
  ) {
    var actions: [RelayAction] = []
    change(&engines[node], now, &actions)
    for action in actions {
      switch action {
      case .offer(let packet):
        var rest = packet.links
        while let slot = rest.popFirst() {
          guard slot < neighbours[node].count, neighbours[node][slot] >= 0 else { continue }
          sends[packet.key, default: 0] += 1
          send(.packet(packet), from: node, to: neighbours[node][slot])
        }
      case .control(let slot, let frame):
        guard slot < neighbours[node].count, neighbours[node][slot] >= 0 else { continue }
        send(.control(frame), from: node, to: neighbours[node][slot])
      case .deliver(let packet, let id, _):
        reached[id.key, default: []].insert(node)
        if packet.header.isForOne { answers.append((node, packet, id.key)) }
      case .answerAgain(let packet, let id, _):
        askedAgain[id.key, default: 0] += 1
        answers.append((node, packet, id.key))
      case .count(let reason, let number): counts[reason, default: 0] += number
      case .record, .handedOver: break
      }
    }
  }

  /// What sessions do: who has got a packet says so, and who is told so tells its relay.
  private mutating func answerAll() {
    guard isAnswering else { return }
    while !answers.isEmpty {
      let (node, packet, key) = answers.removeFirst()
      if packet.header.kind == .receipt {
        let about = packet.body.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.element) << UInt64(8 * $1.offset) }
        if answered[about] == nil { answered[about] = now }
        act(node) { $0.answered(about, into: &$2) }
      } else {
        _ = try? whisper(node, to: Int(packet.header.origin.rawValue) - 1, kind: .receipt, about: key)
      }
    }
  }

  private mutating func send(_ load: Load, from: Int, to: Int) {
    number += 1
    let delay = delays[min(from, to) * 1_000 + max(from, to)] ?? 10_000_000
    let event = Event(
      at: MonotonicTime(nanoseconds: now.nanoseconds + delay), number: number, from: from, to: to, load: load)
    guard isLost(event) else {
      events.append(event)
      return
    }
    // What carries packets sends a lost one again, much later; a frame of the trees is gone.
    guard case .packet = load else { return }
    var again = event
    again.at = again.at.advanced(by: .seconds(4))
    events.append(again)
  }
}
