import Bytes
import Primitives
import TestKit
import Testing
import WireFormat

struct ReassemblyTests {
  private struct Bench: ~Copyable {
    var reassembly = Reassembly()
    var identifier: PacketIdentifier

    init() throws { identifier = try PacketIdentifier() }

    mutating func id(of packet: Packet) throws -> PacketID { try identifier.id(of: packet) }

    mutating func receive(_ frame: [UInt8], link: UInt64 = 1, now: UInt64 = 0) throws -> ReassemblyResult {
      guard case .fragment(let head) = try LinkFrame(decoding: frame.rawSpan) else {
        throw WireError.unknownFrameType(frame[0])
      }
      return reassembly.receive(
        head, data: frame.rawSpan.extracting(LinkFrame.dataOffset..<frame.count), link: link, now: now,
        identifier: &identifier)
    }

    mutating func fragmenter(_ packet: Packet, payload: Int) throws -> Fragmenter {
      try Fragmenter(packet: packet.encoded, key: id(of: packet).key, payloadByteCount: payload)
    }
  }

  private func fragment(_ key: UInt64, _ index: Int, _ count: Int, _ data: [UInt8]) throws -> [UInt8] {
    var frame: [UInt8] = []
    LinkFrame.appendFragment(try FragmentHead(key: key, index: index, count: count), data: data.rawSpan, to: &frame)
    return frame
  }

  @Test(arguments: [38, 39, 64, 100, 244, 482, 483, 509])
  func anySizeComesTogetherInAnyOrder(payload: Int) throws {
    let seed = UInt64(payload)
    var generator = SeededGenerator(seed: seed)
    var bench = try Bench()
    for byteCount in [payload, payload + 1, 500, 1_000, 32_644] {
      let packet = try packet(byteCount: byteCount, seed: UInt64(byteCount))
      let fragmenter = try bench.fragmenter(packet, payload: payload)
      let frames = fragmenter.frames
      #expect(frames.count == fragmenter.frameCount && frames.count > 1 || byteCount < payload)
      #expect(frames.allSatisfy { $0.count <= payload })
      #expect(Set(frames.dropLast().map(\.count)).count <= 1)
      let id = try bench.id(of: packet)
      var completed = 0
      for frame in frames.shuffled(using: &generator) where frames.count > 1 {
        let result = try bench.receive(frame)
        #expect(result.dropped.isEmpty)
        if case .completed(let whole, let wholeID) = result.outcome {
          completed += 1
          #expect(whole == packet && wholeID == id)
        } else {
          #expect(result.outcome == .kept, "seed \(seed)")
        }
      }
      #expect(completed == (frames.count > 1 ? 1 : 0))
      #expect(bench.reassembly.bufferCount == 0 && bench.reassembly.charge == 0)
    }
  }

  @Test func aPacketThatFitsGoesWhole() throws {
    var bench = try Bench()
    let packet = try packet(byteCount: 60)
    let whole = try bench.fragmenter(packet, payload: 61)
    #expect(whole.frames == [[1] + packet.encoded])
    let cut = try bench.fragmenter(packet, payload: 60)
    #expect(cut.frameCount == 2)
    var nothing: [UInt8] = []
    cut.appendFrame(2, to: &nothing)
    cut.appendFrame(-1, to: &nothing)
    #expect(nothing.isEmpty)
    #expect(throws: WireError.payloadTooSmall(byteCount: 37, limit: 38)) {
      try Fragmenter(packet: packet.encoded, key: 1, payloadByteCount: 37)
    }
    #expect(throws: WireError.tooLarge(byteCount: 32_769, limit: 32_768)) {
      try Fragmenter(packet: [UInt8](repeating: 0, count: 32_769), key: 1, payloadByteCount: 38)
    }
    let largest = try Fragmenter(packet: [UInt8](repeating: 0, count: 32_768), key: 1, payloadByteCount: 38)
    #expect(largest.frameCount == WireLimits.fragmentCount)
  }

  @Test func aFragmentThatComesAgainIsNothingNew() throws {
    var bench = try Bench()
    let frames = try bench.fragmenter(packet(byteCount: 100), payload: 50).frames
    #expect(frames.count == 3)
    #expect(try bench.receive(frames[0]).outcome == .kept)
    let charge = bench.reassembly.charge
    for _ in 0..<10 { #expect(try bench.receive(frames[0]).outcome == .duplicate) }
    #expect(bench.reassembly.charge == charge)
    _ = try bench.receive(frames[1])
    guard case .completed = try bench.receive(frames[2]).outcome else {
      Issue.record("not complete")
      return
    }
    for frame in frames { #expect(try bench.receive(frame).outcome == .late) }
    #expect(bench.reassembly.bufferCount == 0)
  }

  @Test func fragmentsThatContradictAreRefused() throws {
    var bench = try Bench()
    #expect(try bench.receive(fragment(1, 1, 4, [1, 2, 3])).outcome == .kept)
    #expect(try bench.receive(fragment(1, 1, 5, [1, 2, 3])).outcome == .refused(.conflictingCount))
    #expect(try bench.receive(fragment(1, 1, 4, [1, 2, 4])).outcome == .refused(.conflictingData))
    #expect(try bench.receive(fragment(1, 1, 4, [1, 2])).outcome == .refused(.conflictingData))
    #expect(try bench.receive(fragment(1, 0, 4, [1, 2])).outcome == .refused(.conflictingSize))
    #expect(try bench.receive(fragment(1, 3, 4, [1, 2, 3, 4])).outcome == .refused(.conflictingSize))
    #expect(try bench.receive(fragment(1, 3, 4, [1, 2])).outcome == .kept)
    #expect(try bench.receive(fragment(2, 3, 4, [1, 2, 3])).outcome == .kept)
    #expect(try bench.receive(fragment(2, 0, 4, [1, 2])).outcome == .refused(.conflictingSize))
    #expect(bench.reassembly.bufferCount == 2)
    #expect(
      try bench.receive(fragment(3, 0, 1_311, [UInt8](repeating: 0, count: 26))).outcome == .refused(.packetTooLarge))
    #expect(
      try bench.receive(fragment(3, 1, 2, [UInt8](repeating: 0, count: 32_769))).outcome == .refused(.packetTooLarge))
    #expect(bench.reassembly.bufferCount == 2)
  }

  @Test func anotherPacketThanTheKeySaysIsDropped() throws {
    var bench = try Bench()
    let packet = try packet(byteCount: 100)
    let key = try bench.id(of: packet).key
    let frames = try Fragmenter(packet: packet.encoded, key: key ^ 1, payloadByteCount: 60).frames
    #expect(try bench.receive(frames[0]).outcome == .kept)
    _ = try bench.receive(frames[1])
    let result = try bench.receive(frames[2])
    #expect(result.outcome == .dropped)
    #expect(result.dropped == [try dropped(key: key ^ 1, .wrongKey, 100, bench: &bench)])
    _ = try bench.receive(fragment(9, 0, 2, [7]))
    let nonsense = try bench.receive(fragment(9, 1, 2, [7]))
    #expect(nonsense.outcome == .dropped && nonsense.dropped.first?.reason == .notAPacket(.unknownVersion(7)))
    #expect(bench.reassembly.charge == 0)
  }

  private func dropped(
    key: UInt64, _ reason: ReassemblyDrop, _ byteCount: Int, bench: inout Bench
  ) throws -> DroppedReassembly {
    DroppedReassembly(link: 1, key: key, reason: reason, byteCount: byteCount)
  }

  @Test func aLinkHasAtMost32PacketsInPieces() throws {
    var bench = try Bench()
    for key: UInt64 in 1...32 { #expect(try bench.receive(fragment(key, 0, 2, [1]), now: key).dropped.isEmpty) }
    let result = try bench.receive(fragment(33, 0, 2, [1]), now: 33)
    #expect(result.outcome == .kept && result.dropped.map(\.key) == [1])
    #expect(result.dropped.first?.reason == .tooManyBuffers)
    #expect(bench.reassembly.bufferCount(link: 1) == 32)
    #expect(try bench.receive(fragment(1, 0, 2, [1]), link: 2, now: 33).dropped.isEmpty)
  }

  @Test func memoryIsBoundedPerLinkAndInAllAndChargedForWhatCame() throws {
    var bench = try Bench()
    _ = try bench.receive(fragment(1, 0, 1_311, [1]))
    #expect(bench.reassembly.charge < 200)
    #expect(bench.reassembly.drop(link: 1) == 1)
    #expect(bench.reassembly.charge == 0)

    let piece = [UInt8](repeating: 5, count: 16_000)
    var drops: [ReassemblyDrop: Int] = [:]
    for link: UInt64 in 1...20 {
      for key: UInt64 in 1...20 {
        let result = try bench.receive(fragment(key, 0, 2, piece), link: link, now: link * 100 + key)
        for drop in result.dropped { drops[drop.reason, default: 0] += 1 }
        #expect(result.outcome == .kept)
        #expect(bench.reassembly.charge(link: link) <= WireLimits.bufferedByteCountPerLink)
        #expect(bench.reassembly.charge <= WireLimits.bufferedByteCount)
      }
    }
    #expect(drops[.linkMemory, default: 0] > 0 && drops[.totalMemory, default: 0] > 0)
    let sum = (1...20).reduce(0) { $0 + bench.reassembly.charge(link: UInt64($1)) }
    #expect(sum == bench.reassembly.charge)
  }

  @Test func whatWaitsTooLongIsGivenUp() throws {
    var bench = try Bench()
    _ = try bench.receive(fragment(1, 0, 3, [1]), now: 1_000)
    _ = try bench.receive(fragment(1, 1, 3, [1]), now: 20_000)
    #expect(bench.reassembly.expire(now: 49_999).isEmpty)
    let dropped = bench.reassembly.expire(now: 50_000)
    #expect(dropped.map(\.reason) == [.timedOut] && dropped.first?.byteCount == 2)
    #expect(bench.reassembly.nextDeadline == nil && bench.reassembly.charge == 0)
  }

  @Test func missingFragmentsAreAskedForAfterAQuietTimeThatDoubles() throws {
    var bench = try Bench()
    for index in [1, 2, 5, 9] { _ = try bench.receive(fragment(7, index, 12, [1]), now: 1_000) }
    #expect(bench.reassembly.nextDeadline == 1_250)
    #expect(bench.reassembly.missing(now: 1_249).isEmpty)
    let first = bench.reassembly.missing(now: 1_250)
    let ranges = [(0, 1), (3, 2), (6, 3), (10, 2)].map { FragmentRange(first: $0.0, count: $0.1) }
    #expect(first == [MissingFragments(link: 1, key: 7, ranges: ranges)])
    #expect(frameResult(first[0].frame.encoded) == .success(first[0].frame))
    #expect(bench.reassembly.missing(now: 1_749).isEmpty)
    #expect(bench.reassembly.missing(now: 1_750).count == 1)
    #expect(bench.reassembly.nextDeadline == 2_750)
    _ = try bench.receive(fragment(7, 0, 12, [1]), now: 2_000)
    #expect(bench.reassembly.nextDeadline == 2_250)
    #expect(bench.reassembly.missing(now: 2_250, rangeLimit: 2).first?.ranges == Array(ranges[1...2]))
  }

  @Test func requestsAreLimitedPerLinkAndSecond() throws {
    var bench = try Bench()
    for link: UInt64 in [1, 2] {
      for key: UInt64 in 1...20 { _ = try bench.receive(fragment(key, 0, 3, [1]), link: link, now: 10_000) }
    }
    let first = bench.reassembly.missing(now: 10_300)
    #expect(first.filter { $0.link == 1 }.count == 8 && first.filter { $0.link == 2 }.count == 8)
    #expect(bench.reassembly.missing(now: 10_301).isEmpty)
    #expect(bench.reassembly.nextDeadline == 11_300)
    let second = bench.reassembly.missing(now: 11_300)
    #expect(second.count == 16)
    #expect(Set(second.map(\.key)).isDisjoint(with: Set(first.map(\.key))))
  }

  @Test func lossIsRepairedByAskingAgain() throws {
    for seed: UInt64 in 1...20 {
      var generator = SeededGenerator(seed: seed)
      var bench = try Bench()
      let packet = try packet(byteCount: 5_000, seed: seed)
      let sender = try bench.fragmenter(packet, payload: 100)
      var now: UInt64 = 0
      var waiting = Array(0..<sender.frameCount)
      var isComplete = false
      for _ in 0..<60 where !isComplete {
        for index in waiting where Int.random(in: 0..<100, using: &generator) >= 30 {
          var frame: [UInt8] = []
          sender.appendFrame(index, to: &frame)
          if case .completed(let whole, _) = try bench.receive(frame, now: now).outcome {
            #expect(whole == packet)
            isComplete = true
          }
        }
        now = bench.reassembly.nextDeadline ?? now
        waiting = bench.reassembly.missing(now: now).flatMap { sender.indices(in: $0.ranges) }
      }
      #expect(isComplete, "seed \(seed)")
    }
  }

  @Test func anyStreamOfFragmentsKeepsTheBounds() throws {
    let seed: UInt64 = 0xBEEF
    var generator = SeededGenerator(seed: seed)
    var bench = try Bench()
    for round in 0..<5_000 {
      let count = Int.random(in: 2...6, using: &generator)
      let frame = try fragment(
        UInt64.random(in: 0...50, using: &generator), Int.random(in: 0..<count, using: &generator), count,
        generator.bytes(Int.random(in: 1...40, using: &generator)))
      let now = UInt64.random(in: 0...100_000, using: &generator)
      let link = UInt64.random(in: 0...3, using: &generator)
      _ = try bench.receive(frame, link: link, now: now)
      if round.isMultiple(of: 50) { _ = bench.reassembly.expire(now: now) }
      if round.isMultiple(of: 30) { _ = bench.reassembly.missing(now: now) }
      if round.isMultiple(of: 999) { bench.reassembly.drop(link: link) }
      let sum = (0...3).reduce(0) { $0 + bench.reassembly.charge(link: UInt64($1)) }
      #expect(sum == bench.reassembly.charge, "seed \(seed) round \(round)")
      #expect(bench.reassembly.bufferCount(link: link) <= 32)
    }
    for link: UInt64 in 0...3 { bench.reassembly.drop(link: link) }
    #expect(bench.reassembly.charge == 0)
  }
}
