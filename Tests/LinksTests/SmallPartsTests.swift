import Streams
import TestKit
import Testing
import WireFormat

@testable import Links

@Suite struct PacketQueueTests {
  func packet(
    _ key: UInt64, _ trafficClass: TrafficClass, byteCount: Int = 10, from source: UInt8 = 63
  ) -> OutgoingPacket {
    OutgoingPacket(
      key: key, bytes: [UInt8](repeating: 0, count: byteCount), trafficClass: trafficClass, source: source,
      since: .start, expiry: .never)
  }

  @Test func whatIsTakenOutLeavesTheRestInOrder() {
    var queue = PacketQueue()
    for key in 0..<20 as Range<UInt64> {
      _ = queue.insert(packet(key, key.isMultiple(of: 3) ? .personal : .public, from: UInt8(key % 2)))
    }
    for _ in 0..<3 { _ = queue.popFirst() }
    let before = queue.count
    let gone = queue.removeAll { $0.key.isMultiple(of: 5) }
    #expect(gone > 0 && queue.count == before - gone && queue.byteCount == queue.count * 10)
    var left: [UInt64] = []
    while let next = queue.popFirst() { left.append(next.key) }
    #expect(left.count == before - gone && left.allSatisfy { !$0.isMultiple(of: 5) })
    #expect(queue.isEmpty && queue.byteCount == 0)
  }

  /// In bytes that leave before: what a link that is full makes of its time.
  @Test(arguments: [TrafficClass.control, .personal, .public, .bulk])
  func threat12_fullQueueOfOneNeighbourCostsAnotherAPacketsTime(flood: TrafficClass) {
    var queue = PacketQueue()
    var key: UInt64 = 0
    var waits: [Int] = []
    for round in 0..<200 {
      for _ in 0..<(round == 0 ? LinksLimits.queuedPackets : 20) {
        key += 1
        _ = queue.insert(packet(key, flood, byteCount: 163, from: 1))
      }
      let honest = UInt64(1_000_000 + round)
      let victims = queue.insert(packet(honest, .public, byteCount: 163, from: 2))
      #expect(victims.allSatisfy { $0.source == 1 }, "who holds most makes room")
      var wait = 0
      while let next = queue.popFirst(), next.key != honest { wait += next.bytes.count }
      waits.append(wait)
      for _ in 0..<18 { _ = queue.popFirst() }
    }
    // In its own class one packet may be before it, and what is more urgent runs ahead by the lead.
    let most = flood.rawValue < TrafficClass.public.rawValue ? LinksLimits.sourceLead + 163 : 163
    #expect(waits.max()! <= most, "\(waits.max()!) bytes")
  }

  @Test func twoNeighboursShareALinkByBytesAndNotByPackets() {
    var queue = PacketQueue()
    for key in 0..<40 as Range<UInt64> { _ = queue.insert(packet(key, .public, byteCount: 2_000, from: 1)) }
    for key in 100..<300 as Range<UInt64> { _ = queue.insert(packet(key, .public, byteCount: 200, from: 2)) }
    var bytes = [0, 0]
    while bytes[0] + bytes[1] < 40_000, let next = queue.popFirst() {
      bytes[Int(next.source) - 1] += next.bytes.count
    }
    #expect(abs(bytes[0] - bytes[1]) <= 2_000, "\(bytes)")
  }

  @Test func whenItIsFullTheOldestOfTheLowestClassGoes() {
    var queue = PacketQueue()
    for key in 0..<UInt64(LinksLimits.queuedPackets) {
      let victim = queue.insert(packet(key, key < 2 ? .bulk : .personal))
      #expect(victim.isEmpty)
    }
    let first = queue.insert(packet(1_000, .public)).map(\.key)
    let second = queue.insert(packet(1_001, .personal)).map(\.key)
    #expect(first == [0] && second == [1])
    // The public one is the lowest now; a bulk one is lower still and does not get in.
    let third = queue.insert(packet(1_002, .bulk)).map(\.key)
    let fourth = queue.insert(packet(1_003, .control)).map(\.key)
    let fifth = queue.insert(packet(1_004, .control)).map(\.key)
    #expect(third == [1_002] && fourth == [1_000] && fifth == [2])
    #expect(queue.count == LinksLimits.queuedPackets)
    #expect(queue.popFirst()?.key == 1_003)
  }

  @Test func bytesAreBoundedWhateverTheSizes() {
    var queue = PacketQueue()
    let seed: UInt64 = 3
    var random = SeededGenerator(seed: seed)
    var dropped = 0
    for key in 0..<3_000 {
      let size = Int.random(in: 1...WireLimits.packetByteCount, using: &random)
      let trafficClass = TrafficClass.allCases.randomElement(using: &random)!
      dropped += queue.insert(packet(UInt64(key), trafficClass, byteCount: size)).count
      #expect(queue.byteCount <= LinksLimits.queuedBytes, "seed \(seed), packet \(key)")
    }
    var (count, bytes) = (0, 0)
    while let packet = queue.popFirst() {
      count += 1
      bytes += packet.bytes.count
    }
    #expect(count + dropped == 3_000 && bytes > LinksLimits.queuedBytes / 2 && queue.isEmpty && queue.byteCount == 0)
  }
}

@Suite struct DeadlineHeapTests {
  @Test func itPopsInTheOrderOfASort() {
    let seed: UInt64 = 4
    var random = SeededGenerator(seed: seed)
    for count in [0, 1, 2, 3, 100, 1_000] {
      var heap = DeadlineHeap()
      var times: [UInt64] = []
      for key in 0..<count {
        times.append(UInt64.random(in: 0...500, using: &random))
        heap.insert(MonotonicTime(nanoseconds: times[key]), key: UInt64(key))
      }
      var popped: [UInt64] = []
      while let entry = heap.popFirst() {
        #expect(times[Int(entry.key)] == entry.deadline.nanoseconds)
        popped.append(entry.deadline.nanoseconds)
      }
      #expect(popped == times.sorted(), "seed \(seed), \(count) entries")
    }
  }
}

@Suite struct RecentKeysTests {
  @Test func theLastKeysAreKnownAndNoOthers() {
    var recent = RecentKeys()
    let limit = UInt64(LinksLimits.recentKeys)
    for key in 0..<limit { recent.insert(key) }
    recent.insert(5)
    #expect(recent.contains(0) && recent.contains(limit - 1))
    recent.insert(limit)
    #expect(!recent.contains(0) && recent.contains(1) && recent.contains(limit))
    for key in limit + 1..<3 * limit { recent.insert(key) }
    #expect(!recent.contains(2 * limit - 1) && recent.contains(2 * limit) && recent.contains(3 * limit - 1))
  }
}

@Suite struct RoundTripEstimatorTests {
  @Test func beforeTheFirstMeasurementTheDefaultStandsAndDoubles() {
    let estimator = RoundTripEstimator()
    #expect(estimator.smoothed == nil)
    #expect(estimator.timeout(attempt: 1) == .milliseconds(500))
    #expect(estimator.timeout(attempt: 2) == .seconds(1))
    #expect(estimator.timeout(attempt: 4) == .seconds(4))
    for attempt in [5, 6, 30, 1_000] { #expect(estimator.timeout(attempt: attempt) == .seconds(5)) }
  }

  @Test func measurementsAreSmoothedAsTheRFCSays() {
    var estimator = RoundTripEstimator()
    estimator.measure(.milliseconds(400))
    #expect(estimator.smoothed == .milliseconds(400))
    #expect(estimator.timeout(attempt: 1) == .milliseconds(400 + 4 * 200))
    estimator.measure(.milliseconds(800))
    #expect(estimator.smoothed == .milliseconds(450))
    #expect(estimator.timeout(attempt: 1) == .milliseconds(450 + 4 * 250))
  }

  @Test func theTimeoutStaysWithinItsBounds() {
    var estimator = RoundTripEstimator()
    for _ in 0..<100 { estimator.measure(.microseconds(50)) }
    #expect(estimator.timeout(attempt: 1) == LinksLimits.shortestRetransmission)
    for _ in 0..<100 { estimator.measure(.seconds(60)) }
    #expect(estimator.timeout(attempt: 1) == LinksLimits.longestRetransmission)
  }
}

@Suite struct HandshakeTransferTests {
  @Test(arguments: [UInt64(1), 2, 3], [4, 20, 64, 244])
  func messagesArriveInOrderOverALinkThatLosesHalf(_ seed: UInt64, _ limit: Int) throws {
    var random = SeededGenerator(seed: seed)
    var sides = [HandshakeTransfer(), HandshakeTransfer()]
    var now = MonotonicTime(nanoseconds: 0)
    let messages = (0..<2).map { side in
      (0..<5).map { number in
        (0..<Int.random(in: 1...300, using: &random)).map { _ in UInt8(truncatingIfNeeded: side * 16 + number) }
      }
    }
    var heard: [[[UInt8]]] = [[], []]
    for side in 0...1 { for message in messages[side] { sides[side].send(message) } }
    for _ in 0..<100_000 where !(sides[0].isSettled && sides[1].isSettled) {
      for side in 0...1 {
        while let frame = sides[side].nextFrame(limit: limit, now: now) {
          #expect(frame.count <= max(limit, 4) && HandshakeTransfer.owns(frame))
          if Bool.random(using: &random) { continue }
          for _ in 0...(Int.random(in: 0...5, using: &random) == 0 ? 1 : 0) {
            if let message = try sides[1 - side].receive(frame) { heard[1 - side].append(message) }
          }
        }
      }
      now = now.advanced(by: .milliseconds(301))
    }
    #expect(heard[1] == messages[0] && heard[0] == messages[1], "seed \(seed), limit \(limit)")
  }

  @Test func whatIsNoHandshakeIsRefused() {
    for bytes: [UInt8] in [
      [], [0x80], [0x80, 0], [0x80, 0, 0], [0x80, 0, 2, 1], [0x81], [0x81, 0, 0], [0x82, 0], [0, 0, 0],
    ] {
      var transfer = HandshakeTransfer()
      #expect(throws: HandshakeTransferError.malformed) { _ = try transfer.receive(bytes) }
    }
  }

  @Test func aMessageWithoutEndIsRefusedAtTheLimit() throws {
    var transfer = HandshakeTransfer()
    let half = [UInt8](repeating: 1, count: LinksLimits.handshakeBytes / 2)
    #expect(try transfer.receive([0x80, 0, 0] + half) == nil)
    var exact = transfer
    #expect(try exact.receive([0x80, 1, 1] + half)?.count == LinksLimits.handshakeBytes)
    #expect(throws: HandshakeTransferError.tooLong) { _ = try transfer.receive([0x80, 1, 1, 0] + half) }
  }

  @Test func aSealedFrameIsNotAHandshake() {
    #expect(!HandshakeTransfer.owns([0x7f, 0xff]) && !HandshakeTransfer.owns([]))
    #expect(HandshakeTransfer.owns([0x80]) && HandshakeTransfer.owns([0xff]))
  }
}

@Suite struct HelloTests {
  @Test func itHasItsBytes() throws {
    let hello = Hello(frameSize: 0x01FD, token: 0x0102_0304_0506_0708)
    #expect(hello.bytes == [1, 0, 0x01, 0xFD, 1, 2, 3, 4, 5, 6, 7, 8])
    #expect(try Hello(decoding: hello.bytes) == hello)
    #expect(try Hello(decoding: hello.bytes + [9, 9]) == hello)
  }

  @Test func whatIsNoHelloIsRefused() {
    let bytes = Hello(frameSize: 64, token: 1).bytes
    for count in 0..<bytes.count {
      #expect(throws: LinkSecurityError.malformed) { _ = try Hello(decoding: Array(bytes[..<count])) }
    }
    #expect(throws: LinkSecurityError.unsupportedVersion(2)) { _ = try Hello(decoding: [2]) }
  }
}
