import Bytes
import Compression
import TestKit
import Testing

struct RawDeflateTests {
  private func inflated(_ bytes: [UInt8], limit: Int = CompressionLimits.inflatedByteCount) -> Result<
    [UInt8], CompressionError
  > {
    do throws(CompressionError) {
      return .success(try RawDeflate.inflate(bytes.rawSpan, limit: limit))
    } catch { return .failure(error) }
  }

  @Test(arguments: [0, 1, 95, 96, 509, 16_383, 16_384, 16_385, 65_535, 65_536])
  func whatWasDeflatedComesBack(count: Int) throws {
    var generator = SeededGenerator(seed: UInt64(count))
    let noise = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let text = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 7) }
    for input in [noise, text] {
      let packed = try RawDeflate.deflate(input.rawSpan)
      #expect(inflated(packed) == .success(input))
    }
  }

  @Test func tooMuchInputIsRefused() {
    let input = [UInt8](repeating: 0, count: CompressionLimits.deflatedInputByteCount + 1)
    #expect(throws: CompressionError.inputTooLarge(limit: 65_536)) { try RawDeflate.deflate(input.rawSpan) }
  }

  @Test(arguments: [0, 1, 2, 16_383, 16_384, 16_385, 65_534])
  func theLimitIsExact(limit: Int) throws {
    for over in 0...2 {
      let packed = try RawDeflate.deflate([UInt8](repeating: 0, count: limit + over).rawSpan)
      let result = inflated(packed, limit: limit)
      if over == 0 {
        #expect(result == .success([UInt8](repeating: 0, count: limit)))
      } else {
        #expect(result == .failure(.outputTooLarge(limit: limit)))
      }
    }
  }

  @Test func aBombStopsAtTheLimit() throws {
    // 1 MiB of zeros, as any deflate makes it.
    let mebibyte =
      Hex.decode("edc13101000000c2a0f54f6d085fa0")! + [UInt8](repeating: 0, count: 1015) + Hex.decode("003e03")!
    #expect(inflated(mebibyte) == .failure(.outputTooLarge(limit: 65_536)))
    #expect(inflated(mebibyte, limit: 1 << 20) == .success([UInt8](repeating: 0, count: 1 << 20)))
    let chunk = try RawDeflate.deflate([UInt8](repeating: 0, count: 65_536).rawSpan)
    #expect(chunk.count < 200)
    #expect(inflated(chunk, limit: 1_000) == .failure(.outputTooLarge(limit: 1_000)))
    #expect(inflated(chunk, limit: -5) == .failure(.outputTooLarge(limit: 0)))
  }

  @Test func everyCutIsToldAsTruncated() throws {
    let packed = try RawDeflate.deflate(Array("a message long enough to be worth it, worth it".utf8).rawSpan)
    for length in 0..<packed.count {
      #expect(inflated(Array(packed.prefix(length))) == .failure(.truncated))
    }
  }

  @Test func bytesBehindTheEndAreRefused() throws {
    let packed = try RawDeflate.deflate([1, 2, 3].rawSpan)
    #expect(inflated(packed + [0]) == .failure(.trailingBytes(count: 1)))
    #expect(inflated(packed + packed) == .failure(.trailingBytes(count: packed.count)))
  }

  @Test func anyBytesGiveAValueOrAnError() {
    let seed: UInt64 = 0xC0FFEE
    var generator = SeededGenerator(seed: seed)
    for round in 0..<5_000 {
      let bytes = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
        UInt8.random(in: .min ... .max, using: &generator)
      }
      if case .success(let output) = inflated(bytes) {
        #expect(output.count <= CompressionLimits.inflatedByteCount, "seed \(seed) round \(round)")
      }
    }
  }
}
