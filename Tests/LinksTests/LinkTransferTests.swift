import Bytes
import Primitives
import Streams
import TestKit
import Testing
import WireFormat

@testable import Links

@Suite struct LinkTransferTests {
  /// Two neighbours over a link that loses, delays, reorders and doubles frames, in virtual time.
  struct Wire: ~Copyable {
    struct Side {
      var transfer = LinkTransfer(bytesPerSecond: 60_000)
      var reassembly = Reassembly()
      var received: [UInt64] = []
      var repetitions = 0
    }

    var sides = [Side(), Side()]
    var identifier: PacketIdentifier
    var random: SeededGenerator
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var underWay: [(due: MonotonicTime, to: Int, content: [UInt8])] = []
    var loss = 0.3
    var limit: Int

    init(seed: UInt64, limit: Int) throws {
      identifier = try PacketIdentifier()
      random = SeededGenerator(seed: seed)
      self.limit = limit
    }

    mutating func packet(byteCount: Int) throws -> (key: UInt64, bytes: [UInt8]) {
      let body = (0..<max(0, byteCount - 32)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let draft = try PacketDraft(
        kind: .personal, time: random.next() >> 16, origin: Tag(rawValue: 1), destination: Tag(rawValue: 2), body: body)
      let packet = try draft.unsigned()
      return (try identifier.id(of: packet).key, packet.encoded)
    }

    mutating func send(byteCount: Int, from side: Int, trafficClass: TrafficClass = .personal) throws -> UInt64 {
      let (key, bytes) = try packet(byteCount: byteCount)
      sides[side].transfer.enqueue(
        OutgoingPacket(key: key, bytes: bytes, trafficClass: trafficClass, since: now, expiry: .never))
      return key
    }

    /// Runs until nothing is under way any more, at most so long.
    mutating func run(for duration: Duration) throws {
      let end = now.advanced(by: duration)
      while now < end, sides.contains(where: { $0.transfer.waiting > 0 }) || !underWay.isEmpty {
        for side in 0...1 { try serve(side) }
        var next = underWay.map(\.due).min() ?? .never
        for side in sides {
          next = min(next, side.transfer.deadline ?? .never)
          next = min(next, side.reassembly.nextDeadline.map { MonotonicTime(nanoseconds: $0 * 1_000_000) } ?? .never)
        }
        now = max(now.advanced(by: .milliseconds(1)), min(next, end))
        underWay.sort { $0.due < $1.due }
        while let first = underWay.first, first.due <= now {
          underWay.removeFirst()
          try receive(first.content, at: first.to)
        }
      }
    }

    private mutating func serve(_ side: Int) throws {
      sides[side].transfer.tick(now: now)
      let milliseconds = now.nanoseconds / 1_000_000
      _ = sides[side].reassembly.expire(now: milliseconds)
      for request in sides[side].reassembly.missing(now: milliseconds) {
        sides[side].transfer.enqueue(content: request.frame.encoded)
      }
      while let content = sides[side].transfer.nextContent(limit: limit, now: now) {
        #expect(content.count <= limit)
        for copy in 0..<(Double.random(in: 0..<1, using: &random) < 0.1 ? 2 : 1) {
          if copy == 0, Double.random(in: 0..<1, using: &random) < loss { continue }
          let delay = Duration.microseconds(Int.random(in: 1_000...40_000, using: &random))
          underWay.append((now.advanced(by: delay), 1 - side, content))
        }
      }
    }

    private mutating func receive(_ content: [UInt8], at side: Int) throws {
      switch try LinkFrame(decoding: content.rawSpan) {
      case .packet:
        let packet = try Packet(decoding: Array(content[LinkFrame.packetOffset...]))
        take(try identifier.id(of: packet).key, at: side)
      case .fragment(let head):
        if sides[side].transfer.isRepetition(head.key, now: now) { return }
        let data = content.rawSpan.extracting(LinkFrame.dataOffset..<content.count)
        let result = sides[side].reassembly.receive(
          head, data: data, link: 1, now: now.nanoseconds / 1_000_000, identifier: &identifier)
        if case .completed(_, let id) = result.outcome { take(id.key, at: side) }
      case .acknowledgment(let keys): _ = sides[side].transfer.acknowledge(keys, now: now)
      case .fragmentRequest(let key, let ranges):
        sides[side].transfer.request(key, ranges: ranges.map { $0.first..<$0.end }, now: now)
      default: Issue.record("an unexpected frame")
      }
    }

    private mutating func take(_ key: UInt64, at side: Int) {
      if sides[side].transfer.isRepetition(key, hops: 0, now: now) {
        sides[side].repetitions += 1
        return
      }
      sides[side].transfer.accept(key, hops: 0, now: now)
      sides[side].received.append(key)
    }
  }

  /// Frames of 64 to 509 bytes, less what the seal takes.
  /// Packets of 400, 3,000 and 20,000 bytes over links of 5 to 60 kB a second whose transport says 30: 100 kB take
  /// hardly longer than their frames need, and nothing is sent twice.
  @Test(arguments: [5_000, 23_000, 60_000], [400, 3_000, 20_000])
  func payloadFillsALinkWhateverItsRate(_ rate: Int, _ size: Int) throws {
    var wire = try PacedWire(bytesPerSecond: rate)
    try wire.enqueue(count: 100_000 / size, byteCount: size)
    let start = wire.now
    try wire.run(atMost: .seconds(120))
    let (seconds, ideal) = (
      Double(wire.now.milliseconds(since: start)) / 1_000, Double(wire.bytesNeeded) / Double(rate)
    )
    let (again, doubles) = (wire.sender.retransmitted, wire.doubles)
    #expect(wire.sender.waiting == 0)
    #expect(seconds <= ideal / 0.9, "\(seconds) s where \(ideal) s are needed, \(again) again")
    #expect(again == 0 && doubles == 0)
  }

  /// A link that takes any number of frames and carries 10 kB a second: what is under way takes longer than the first
  /// retransmission time, so that nothing could be measured if that stood.
  @Test func aSlowLinkIsNotFilledWithRepetitions() throws {
    var transfer = LinkTransfer(bytesPerSecond: 30_000)
    var identifier = try PacketIdentifier()
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    for number in 0..<200 {
      let packet = try PacketDraft(
        kind: .personal, time: UInt64(number), origin: Tag(rawValue: 1), destination: Tag(rawValue: 2),
        body: [UInt8](repeating: 1, count: 400)
      ).unsigned()
      transfer.enqueue(
        OutgoingPacket(
          key: try identifier.id(of: packet).key, bytes: packet.encoded, trafficClass: .personal, since: now,
          expiry: .never))
    }
    var underWay: [(due: MonotonicTime, content: [UInt8])] = []
    var free = now
    var frames = 0
    while transfer.waiting > 0, frames < 2_000 {
      while let content = transfer.nextContent(limit: 500, now: now) {
        frames += 1
        free = max(free, now).advanced(by: .milliseconds(Int64(content.count / 10)))
        underWay.append((free, content))
      }
      now = min(underWay.first?.due ?? .never, transfer.deadline ?? .never)
      while let first = underWay.first, first.due <= now {
        underWay.removeFirst()
        guard try LinkFrame(decoding: first.content.rawSpan) == .packet else { continue }
        let packet = try Packet(decoding: Array(first.content[LinkFrame.packetOffset...]))
        _ = transfer.acknowledge([try identifier.id(of: packet).key], now: now)
      }
      transfer.tick(now: now)
    }
    #expect(transfer.waiting == 0 && transfer.retransmitted <= 80, "\(transfer.retransmitted) sent again")
  }

  /// Packets that needed a second try tell nothing of the order, and yet show that the link moves: one that was lost must
  /// not wait for as long as they come.
  @Test func packetThatWasLostDoesNotWaitForAllOthersThatNeedASecondTry() throws {
    var transfer = LinkTransfer(bytesPerSecond: 60_000)
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    func enqueue(_ key: UInt64) throws {
      let draft = try PacketDraft(
        kind: .public, time: 1, origin: Tag(rawValue: 1), body: [UInt8](repeating: 7, count: 400))
      let packet = draft.signed { _ in [UInt8](repeating: 1, count: 64) }
      transfer.enqueue(
        OutgoingPacket(key: key, bytes: packet.encoded, trafficClass: .public, since: now, expiry: .never))
    }
    func sendAll() { while transfer.nextContent(limit: 160, now: now) != nil {} }
    try enqueue(1)
    sendAll()
    let lostAt = now
    var requests: UInt64 = 0
    for number in UInt64(0)..<600 {
      try enqueue(100 + number)
      sendAll()
      now = now.advanced(by: .milliseconds(50))
      let before = transfer.retransmitted
      transfer.request(100 + number, ranges: [0..<1], now: now)
      requests += transfer.retransmitted - before
      sendAll()
      now = now.advanced(by: .milliseconds(50))
      _ = transfer.acknowledge([100 + number], now: now)
      transfer.tick(now: now)
      if transfer.retransmitted > requests { break }
    }
    #expect(requests > 0 && transfer.retransmitted == requests + 1)
    #expect(now.since(lostAt) < .seconds(5), "sent again after \(now.since(lostAt))")
  }

  @Test func whatWaitsOfABlockedOriginIsNotSentAnyMore() throws {
    var transfer = LinkTransfer(bytesPerSecond: 60_000)
    let now = MonotonicTime(nanoseconds: 1_000_000_000)
    func enqueue(_ key: UInt64, origin: UInt64, byteCount: Int) throws {
      let draft = try PacketDraft(
        kind: .public, time: 1, origin: Tag(rawValue: origin), body: [UInt8](repeating: 7, count: byteCount))
      let packet = draft.signed { _ in [UInt8](repeating: 1, count: 64) }
      transfer.enqueue(
        OutgoingPacket(key: key, bytes: packet.encoded, trafficClass: .public, since: now, expiry: .never))
    }
    // One is under way, one in pieces, one waits; and one of somebody else.
    try enqueue(1, origin: 1, byteCount: 20)
    try enqueue(2, origin: 1, byteCount: 400)
    let first = transfer.nextContent(limit: 160, now: now)
    let piece = transfer.nextContent(limit: 160, now: now)
    #expect(first != nil && piece != nil)
    try enqueue(3, origin: 1, byteCount: 20)
    try enqueue(4, origin: 2, byteCount: 20)
    transfer.drop(of: [Tag(rawValue: 1)])
    #expect(transfer.takeDrops() == [.originBlocked: 3] && transfer.waiting == 1)
    let other = transfer.nextContent(limit: 160, now: now)
    let nothing = transfer.nextContent(limit: 160, now: now)
    #expect(other != nil && nothing == nil)
    transfer.tick(now: now.advanced(by: .seconds(60)))
    #expect(transfer.retransmitted == 1, "what is gone is not sent again")
  }

  @Test(arguments: [64, 65, 100, 185, 244, 400, 508, 509], [UInt64(1), 2])
  func everythingArrivesOnceOverALinkThatLosesAThird(_ frameSize: Int, _ seed: UInt64) throws {
    var wire = try Wire(seed: seed &* 1_000 &+ UInt64(frameSize), limit: frameSize - 26)
    var sent: [[UInt64]] = [[], []]
    for _ in 0..<60 {
      for side in 0...1 {
        let size =
          Int.random(in: 0..<10, using: &wire.random) == 0 ? 3_000 : Int.random(in: 33...700, using: &wire.random)
        sent[side].append(try wire.send(byteCount: size, from: side))
      }
    }
    try wire.run(for: .seconds(600))
    for side in 0...1 {
      let received = wire.sides[1 - side].received
      #expect(
        Set(received) == Set(sent[side]), "seed \(seed), frame \(frameSize): \(received.count) of \(sent[side].count)")
      #expect(Set(received).count == received.count, "seed \(seed), frame \(frameSize): something came twice")
      #expect(wire.sides[side].transfer.acknowledged == 60 && wire.sides[side].transfer.takeDrops().isEmpty)
      #expect(wire.sides[side].transfer.retransmitted > 0)
    }
  }

  @Test func withoutLossOrderIsKeptInAClassAndTheUrgentGoesFirst() throws {
    var wire = try Wire(seed: 5, limit: 200)
    var sent: [TrafficClass: [UInt64]] = [:]
    for trafficClass in [TrafficClass.bulk, .public, .personal, .control] {
      for _ in 0..<10 {
        sent[trafficClass, default: []].append(try wire.send(byteCount: 100, from: 0, trafficClass: trafficClass))
      }
    }
    var keys: [UInt64] = []
    while let content = wire.sides[0].transfer.nextContent(limit: 200, now: wire.now) {
      let packet = try Packet(decoding: Array(content[LinkFrame.packetOffset...]))
      keys.append(try wire.identifier.id(of: packet).key)
    }
    #expect(keys == [.control, .personal, .public, .bulk].flatMap { sent[$0]! })
  }

  @Test func aPacketHandedOverTwiceIsSentOnceAndLeavesNoDebt() throws {
    var wire = try Wire(seed: 6, limit: 200)
    let (key, bytes) = try wire.packet(byteCount: 150)
    let packet = OutgoingPacket(key: key, bytes: bytes, trafficClass: .public, since: wire.now, expiry: .never)
    for _ in 0..<3 { wire.sides[0].transfer.enqueue(packet) }
    wire.loss = 0
    try wire.run(for: .seconds(10))
    #expect(wire.sides[1].received == [key] && wire.sides[1].repetitions <= 1)
    #expect(wire.sides[0].transfer.waiting == 0)
    // The window is free again: more than it holds goes through.
    var sent: [UInt64] = []
    for _ in 0..<400 { sent.append(try wire.send(byteCount: 150, from: 0)) }
    for _ in 0..<400 { wire.sides[0].transfer.enqueue(packet) }
    try wire.run(for: .seconds(60))
    #expect(wire.sides[1].received.count == 401)
  }

  @Test func framesThatBecomeSmallerAreCutAnew() throws {
    var wire = try Wire(seed: 8, limit: 483)
    var sent: [UInt64] = []
    for _ in 0..<20 { sent.append(try wire.send(byteCount: 2_000, from: 0)) }
    try wire.run(for: .milliseconds(50))
    wire.limit = 38
    try wire.run(for: .seconds(20))
    wire.limit = 200
    try wire.run(for: .seconds(600))
    #expect(Set(wire.sides[1].received) == Set(sent))
  }

  @Test func whatExpiresWhileItWaitsIsCounted() throws {
    var transfer = LinkTransfer(bytesPerSecond: 1)
    let now = MonotonicTime(nanoseconds: 1_000)
    for key: UInt64 in 1...2 {
      transfer.enqueue(
        OutgoingPacket(
          key: key, bytes: [UInt8](repeating: 0, count: 40), trafficClass: .bulk, since: now,
          expiry: now.advanced(by: .nanoseconds(Int(key)))))
    }
    let content = transfer.nextContent(limit: 100, now: now.advanced(by: .nanoseconds(1)))
    #expect(content != nil)
    #expect(transfer.takeDrops() == [.expired: 1] && transfer.waiting == 1)
  }

  @Test func aPacketThatIsNeverAcknowledgedIsGivenUp() throws {
    var wire = try Wire(seed: 9, limit: 200)
    wire.loss = 1.1
    _ = try wire.send(byteCount: 100, from: 0)
    try wire.run(for: .seconds(3_600))
    #expect(wire.sides[0].transfer.takeDrops() == [.unacknowledged: 1] && wire.sides[0].transfer.waiting == 0)
    #expect(wire.sides[0].transfer.retransmitted == UInt64(LinksLimits.attempts - 1))
  }

  @Test func acknowledgementsOfOnePeerAreBounded() {
    var transfer = LinkTransfer(bytesPerSecond: 60_000)
    let now = MonotonicTime(nanoseconds: 1_000)
    transfer.accept(1, hops: 0, now: now)
    for _ in 0..<100_000 { _ = transfer.isRepetition(1, now: now) }
    var frames = 0
    while transfer.nextContent(limit: 483, now: now.advanced(by: .seconds(1))) != nil { frames += 1 }
    #expect(frames <= LinksLimits.recentKeys / 60 + 1)
  }

  @Test func aCopyThatCameByAMuchShorterWayIsNoRepetition() {
    var transfer = LinkTransfer(bytesPerSecond: 60_000)
    let now = MonotonicTime(nanoseconds: 1_000)
    transfer.accept(1, hops: 10, now: now)
    let repetitions = [255, 10, 9, 8, 0].map { transfer.isRepetition(1, hops: $0, now: now) }
    #expect(repetitions == [true, true, true, false, false])
    transfer.accept(1, hops: 8, now: now)
    let later = [8, 7, 6].map { transfer.isRepetition(1, hops: $0, now: now) }
    #expect(later == [true, true, false])
    let unknown = transfer.isRepetition(2, hops: 200, now: now)
    #expect(!unknown)
  }

  @Test func aResetCountsWhatIsLetGo() throws {
    var wire = try Wire(seed: 10, limit: 60)
    for _ in 0..<5 { _ = try wire.send(byteCount: 100, from: 0) }
    _ = wire.sides[0].transfer.nextContent(limit: 60, now: wire.now)
    wire.sides[0].transfer.reset()
    let drops = wire.sides[0].transfer.takeDrops()
    #expect(drops == [.linkDown: 5] && wire.sides[0].transfer.waiting == 0)
    #expect(wire.sides[0].transfer.nextContent(limit: 60, now: wire.now) == nil)
    #expect(wire.sides[0].transfer.deadline == nil)
  }
}
