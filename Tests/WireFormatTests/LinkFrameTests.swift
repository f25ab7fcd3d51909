import Bytes
import TestKit
import Testing
import WireFormat

struct LinkFrameTests {
  private func reencoded(_ bytes: [UInt8]) throws -> [UInt8] {
    let frame = try LinkFrame(decoding: bytes.rawSpan)
    var copy: [UInt8] = []
    let offset = frame.contentOffset(in: bytes.count)
    frame.append(to: &copy, content: bytes.rawSpan.extracting(offset..<bytes.count))
    return copy
  }

  @Test func everyFrameComesBack() throws {
    let frames: [LinkFrame] = [
      .acknowledgment([1]), .acknowledgment((0..<60).map { $0 }), .ping(token: .max), .pong(token: 7),
      .goodbye(.duplicateLink), .goodbye(GoodbyeReason(rawValue: 255)),
      .fragmentRequest(key: 9, ranges: [FragmentRange(first: 0, count: 1), FragmentRange(first: 2, count: 1_309)]),
      .prune([Tag(rawValue: 1), Tag(rawValue: .max)]), .announcement((0..<60).map { $0 }), .graft([5]),
      .reopen([]), .reopen([Tag(rawValue: 3)]), .widen(.lanes, [1]), .widen(.everybody, [2, 3]),
    ]
    for frame in frames {
      let bytes = frame.encoded
      #expect(frameResult(bytes) == .success(frame))
      #expect(try reencoded(bytes) == bytes)
      #expect(frameResult(bytes + [0]) != .success(frame))
      for length in 0..<bytes.count { #expect(frameResult(Array(bytes.prefix(length))) != .success(frame)) }
    }
    let head = try FragmentHead(key: 3, index: 1, count: 2)
    var fragment: [UInt8] = []
    LinkFrame.appendFragment(head, data: [1, 2].rawSpan, to: &fragment)
    #expect(frameResult(fragment) == .success(.fragment(head)))
    #expect(Array(fragment[LinkFrame.dataOffset...]) == [1, 2])
    #expect(try reencoded(fragment) == fragment)
    #expect(try reencoded([1, 9, 9]) == [1, 9, 9])
    #expect(try reencoded([74]) == [74])
    #expect(try reencoded([255, 1]) == [255, 1])
  }

  @Test func unknownTypesAreRefusedBelow64AndIgnoredFromThereOn() {
    for type in UInt8.min...UInt8.max where !(1...7).contains(type) && !(64...73).contains(type) {
      let result = frameResult([type, 1, 2])
      #expect(result == (type < 64 ? .failure(.unknownFrameType(type)) : .success(.ignored(type: type))))
    }
    #expect(frameResult([]) == .failure(.bytes(ByteError(needed: 1, available: 0))))
  }

  @Test func limitsAreExact() {
    let key: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
    func u16(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
    func fragment(_ index: Int, _ count: Int) -> [UInt8] { [2] + key + u16(index) + u16(count) + [1] }
    #expect(WireLimits.fragmentCount == 1_311)
    #expect((try? frameResult(fragment(0, 2)).get()) != nil)
    #expect((try? frameResult(fragment(1_310, 1_311)).get()) != nil)
    #expect(frameResult(fragment(0, 0)) == .failure(.fragmentCount(0)))
    #expect(frameResult(fragment(0, 1)) == .failure(.fragmentCount(1)))
    #expect(frameResult(fragment(0, 1_312)) == .failure(.fragmentCount(1_312)))
    #expect(frameResult(fragment(65_535, 65_535)) == .failure(.fragmentCount(65_535)))
    #expect(frameResult(fragment(2, 2)) == .failure(.fragmentIndex(2, count: 2)))
    #expect(frameResult(fragment(0, 2).dropLast()) == .failure(.bytes(ByteError(needed: 1, available: 0))))
    #expect(frameResult([1]) == .failure(.bytes(ByteError(needed: 1, available: 0))))
    #expect(frameResult([3]) == .failure(.listCount(0, limit: 60)))
    let keys61 = [UInt8](repeating: 0, count: 8 * 61)
    #expect((try? frameResult([3] + keys61.dropLast(8)).get()) != nil)
    #expect(frameResult([3] + keys61) == .failure(.listCount(61, limit: 60)))
    func request(_ ranges: [(Int, Int)]) -> [UInt8] { [4] + key + ranges.flatMap { u16($0.0) + u16($0.1) } }
    #expect(frameResult(request([])) == .failure(.listCount(0, limit: 118)))
    #expect((try? frameResult(request((0..<118).map { ($0 * 2, 1) })).get()) != nil)
    #expect(frameResult(request((0..<119).map { ($0 * 2, 1) })) == .failure(.listCount(119, limit: 118)))
    for bad in [
      [(0, 0)], [(0, 1), (1, 1)], [(2, 1), (0, 1)], [(0, 2), (1, 1)], [(1_311, 1)], [(0, 1_312)], [(65_535, 65_535)],
    ] {
      #expect(frameResult(request(bad)) == .failure(.ranges))
    }
    #expect((try? frameResult(request([(0, 1_311)])).get()) != nil)
  }

  @Test func acknowledgmentsFitTheirFrames() throws {
    let keys = (0..<200).map { UInt64($0) }
    for payload in [38, 100, 483, 4_000] {
      let frames = LinkFrame.acknowledgments(of: keys, payloadByteCount: payload)
      var back: [UInt64] = []
      for frame in frames {
        #expect(frame.count <= payload)
        guard case .acknowledgment(let some) = try LinkFrame(decoding: frame.rawSpan) else { continue }
        back += some
      }
      #expect(back == keys)
    }
    #expect(LinkFrame.acknowledgments(of: [], payloadByteCount: 38).isEmpty)
  }

  @Test func listsOfTheTreesAreBoundedAndCutToTheirFrames() throws {
    for type in UInt8(64)...67 {
      #expect((frameResult([type]) == .failure(.listCount(0, limit: 60))) == (type != 67))
      #expect((try? frameResult([type] + [UInt8](repeating: 1, count: 480)).get()) != nil)
      #expect(frameResult([type] + [UInt8](repeating: 1, count: 488)) == .failure(.listCount(61, limit: 60)))
    }
    let keys = (0..<100).map { UInt64($0) }
    for payload in [38, 100, 483, 4_000] {
      let frames = LinkFrame.announcement(keys).encoded(payloadByteCount: payload)
      #expect(frames.allSatisfy { $0.count <= payload && (try? frameResult($0).get()) != nil })
      #expect(frames.flatMap { $0.dropFirst() } == Array(LinkFrame.announcement(keys).encoded.dropFirst()))
    }
    #expect(frameResult([73, 1] + [UInt8](repeating: 1, count: 8)) == .failure(.scope(1)))
    #expect(frameResult([73, 3] + [UInt8](repeating: 1, count: 8)) == .failure(.scope(3)))
    #expect(frameResult([73, 0]) == .failure(.listCount(0, limit: 60)))
    #expect(LinkFrame.widen(.lanes, [1, 2, 3, 4, 5]).encoded(payloadByteCount: 38).map(\.count) == [34, 10])
    #expect(LinkFrame.reopen([]).encoded(payloadByteCount: 38) == [[67]])
  }

  @Test func anyBytesGiveAFrameOrAnErrorAndComeBack() throws {
    let seed: UInt64 = 0xF4A3
    var generator = SeededGenerator(seed: seed)
    for round in 0..<20_000 {
      var bytes = generator.bytes(Int.random(in: 0...40, using: &generator))
      if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0...9, using: &generator) }
      if !bytes.isEmpty, round.isMultiple(of: 3) { bytes[0] |= 64 }
      if bytes.count > 13, round.isMultiple(of: 2) { for index in [9, 11] { bytes[index] &= 3 } }
      guard (try? frameResult(bytes).get()) != nil else { continue }
      #expect(try reencoded(bytes) == bytes, "seed \(seed) round \(round)")
    }
  }
}
