import Bytes
import TestKit
import Testing

@testable import Compression

@Suite struct PackingTests {
  @Test func sizesAreTheBuckets() throws {
    let noise = random(40_000, seed: 1)
    for count in 0...8_000 {
      let packed = try Packing.pack(Array(noise[..<count]))
      let isBucket = CompressionLimits.buckets.contains(packed.count) || (packed.count + 32) % 1_024 == 0
      #expect(isBucket && packed.count >= count + 2, "\(count) bytes became \(packed.count)")
    }
    #expect(
      [30, 31, 94, 95, 222, 223, 478, 479, 990, 991, 2_014, 2_015].map(Packing.bucket) == [
        32, 96, 96, 224, 224, 480, 480, 992, 992, 2_016, 2_016, 3_040,
      ])
  }

  @Test(arguments: [0, 1, 30, 31, 95, 96, 97, 500, 4_096, 32_767])
  func contentComesBack(byteCount: Int) throws {
    for content in [random(byteCount, seed: 7), [UInt8](repeating: 0x61, count: byteCount)] {
      #expect(try Packing.unpack(try Packing.pack(content)) == content)
    }
  }

  @Test func whatIsTooLongIsRefused() {
    #expect(throws: CompressionError.tooLong(byteCount: 32_768, limit: 32_767)) {
      try Packing.pack([UInt8](repeating: 1, count: 32_768))
    }
  }

  @Test func compressionIsKeptOnlyWhereItReachesALowerBucket() throws {
    let text = Array(
      "meet me at the old mill, the old mill by the river, at the old mill at noon, when noon is past the mill".utf8)
    let packed = try Packing.pack(text)
    #expect(text.count > 94 && packed.count == 96 && packed[0] & 0x80 != 0)
    let short = [UInt8](repeating: 0x61, count: 95)
    #expect(try Packing.pack(short).count == 224, "below 96 bytes nothing is compressed")
    #expect(try Packing.pack(random(100, seed: 3))[0] & 0x80 == 0)
  }

  @Test func everyOtherPackingIsRefused() throws {
    let packed = try Packing.pack(Array("hello".utf8))
    for index in packed.indices where index >= 7 {
      var changed = packed
      changed[index] = 1
      #expect(throws: CompressionError.malformedPacking) { try Packing.unpack(changed) }
    }
    #expect(throws: CompressionError.malformedPacking) { try Packing.unpack(packed + [0]) }
    #expect(throws: CompressionError.malformedPacking) { try Packing.unpack(packed.dropLast()) }
    let deflated = try RawDeflate.deflate([UInt8](repeating: 0, count: 40).rawSpan)
    var needless = [0x80, UInt8(deflated.count)] + deflated
    needless += [UInt8](repeating: 0, count: 32 - needless.count)
    #expect(throws: CompressionError.malformedPacking) { try Packing.unpack(needless) }
  }

  @Test func threat09_bombIsStoppedAtTheLimit() throws {
    let zeros = [UInt8](repeating: 0, count: 60_000)
    let deflated = try RawDeflate.deflate(zeros.rawSpan)
    let size = Packing.bucket(for: deflated.count)
    let head = UInt16(deflated.count) | 0x8000
    var bomb = [UInt8(head >> 8), UInt8(truncatingIfNeeded: head)] + deflated
    bomb += [UInt8](repeating: 0, count: size - bomb.count)
    #expect(throws: CompressionError.outputTooLarge(limit: 32_767)) { try Packing.unpack(bomb) }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func anyBytesGiveContentOrAnError(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let bytes = random(Int.random(in: 0...1_100, using: &generator), seed: seed)
    if let content = try? Packing.unpack(bytes) { #expect((try? Packing.pack(content)) == bytes, "seed \(seed)") }
  }

  private func random(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }
}
