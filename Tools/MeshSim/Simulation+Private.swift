internal import Bytes
internal import Routing
internal import Streams
internal import TestKit
internal import WireFormat

/// Messages for one node, and the receipts that answer them, as the shipped session sends them.
extension Simulation {
  /// What a seal adds to a message, and what a sealed receipt of one message has, in bytes.
  static var sealed: (overhead: Int, receipt: Int) { (overhead: 100, receipt: 140) }
  /// Opening, keeping and sealing an answer.
  static var answerTime: UInt64 { 1_000_000 }

  func other(than source: Int, of honest: [Int], _ random: inout SeededGenerator) -> Int {
    while honest.count > 1 {
      let node = honest[Int.random(in: 0..<honest.count, using: &random)]
      if node != source { return node }
    }
    return source
  }

  mutating func draftPersonal(
    _ number: Int, from source: Int, to destination: Int, _ at: UInt64, _ isTracked: Bool
  ) throws -> Message {
    try draft(
      number, .personal, from: source, to: destination, at, scenario.load.bodyBytes + Self.sealed.overhead, isTracked)
  }

  private mutating func draft(
    _ number: Int, _ kind: PacketKind, from source: Int, to destination: Int, _ at: UInt64, _ byteCount: Int,
    _ isTracked: Bool
  ) throws -> Message {
    let packet = try PacketDraft(
      kind: kind, time: Scenario.wallMilliseconds(at), origin: Self.tag(source), destination: Self.tag(destination),
      body: body(number, byteCount)
    ).unsigned()
    return Message(
      source: source, at: at, destination: destination, packet: packet, id: try identifier.id(of: packet),
      row: isTracked ? deliveries.addRow() : -1, isMeasured: isTracked)
  }

  /// The destination has the message on disk and says so.
  mutating func planReceipt(for number: Int, by node: Int) {
    let receipt = messages.count
    let at = now + Self.answerTime
    guard
      var message = try? draft(
        receipt, .receipt, from: node, to: messages[number].source, at, Self.sealed.receipt, false)
    else { return }
    message.answers = number
    messages.append(message)
    queue.add(.message, at: at, receipt)
  }

  /// A packet came once more, because its origin has no answer.
  mutating func answerAgain(_ packet: Packet, _ id: PacketID, at node: Int) {
    let number = Int(packet.encoded.rawSpan.number(UInt32.self, at: packet.header.bodyRange.lowerBound))
    guard number < messages.count, messages[number].id == id, messages[number].destination == node else { return }
    if let answered = messages[number].answers {
      answer(to: answered, came: now)
    } else {
      planReceipt(for: number, by: node)
    }
  }

  mutating func answer(to number: Int, came at: UInt64) {
    if messages[number].answeredAfter == nil { messages[number].answeredAfter = at - messages[number].at }
    queue.add(.answered, at: at, number)
  }

  mutating func answered(_ number: Int) {
    let source = messages[number].source
    nodes[source].rules.answered(messages[number].id.key, into: &actions)
    perform(source)
  }

  // MARK: Chat

  mutating func planChat(_ chat: Scenario.Chat, among honest: [Int], _ random: inout SeededGenerator) throws {
    let second: UInt64 = 1_000_000_000
    let speakers = honest.shuffled(using: &random)
    var shares: [Double] = []
    for rank in speakers.indices { shares.append((shares.last ?? 0) + 1 / Double(rank + 1)) }
    let (end, length) = (scenario.warmUp + scenario.measured, scenario.measured / 30)
    let peak = scenario.warmUp + scenario.measured / 2
    let inPeak = Int(chat.peak * length / second)
    let all = Int(scenario.load.perThousandSeconds * scenario.measured / second / 1_000)
    let before = Int(scenario.load.perThousandSeconds * scenario.warmUp / second / 1_000)
    let spans = [
      (before, 0, scenario.warmUp), (all - inPeak, scenario.warmUp, end), (inPeak, peak, peak + length),
    ]
    for (count, from, to) in spans {
      for _ in 0..<max(0, count / chat.burst) {
        let share = Double.random(in: 0..<(shares.last ?? 1), using: &random)
        let source = speakers[min(speakers.count - 1, shares.partitioningIndex { $0 > share })]
        var at = UInt64.random(in: from..<to, using: &random)
        for _ in 0..<chat.burst {
          guard at < end else { break }
          try planOne(chat, from: source, at: at, among: honest, &random)
          at += UInt64.random(in: second / 10..<second / 2, using: &random)
        }
      }
    }
  }

  private mutating func planOne(
    _ chat: Scenario.Chat, from source: Int, at: UInt64, among honest: [Int], _ random: inout SeededGenerator
  ) throws {
    let number = messages.count
    let isTracked = at >= scenario.warmUp
    let drawn = Int.random(in: 0..<1_000, using: &random)
    switch drawn {
    case 0..<chat.personal:
      let destination = other(than: source, of: honest, &random)
      messages.append(try draftPersonal(number, from: source, to: destination, at, isTracked))
    case chat.personal..<(chat.personal + chat.pages):
      let size = Int.random(in: 1_000...10_000, using: &random)
      messages.append(try draft(number, from: source, at: at, byteCount: size, isTracked: isTracked))
    case (chat.personal + chat.pages)..<(chat.personal + chat.pages + chat.files):
      // 100 kB do not fit a packet: the largest there is, behind everything else, as what is no chat goes. No session takes
      // it, so that nobody asks where it has arrived.
      messages.append(
        try draft(
          number, from: source, at: at, byteCount: WireLimits.bodyByteCount, isTracked: false,
          kind: PacketKind(rawValue: 64)))
    default:
      let size = Int.random(in: 20...120, using: &random)
      messages.append(try draft(number, from: source, at: at, byteCount: size, isTracked: isTracked))
    }
    queue.add(.message, at: at, number)
  }
}

extension [Double] {
  /// The first index from which on all match.
  func partitioningIndex(where matches: (Double) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if matches(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
