import Bytes
import Glibc
import TestKit
import Testing

@testable import Compression

/// Streams that are small and want to be huge, after a seal that was good. Names begin with the row of the threat.
@Suite struct BombTests {
  /// A raw deflate stream of fixed Huffman codes: one zero, then `runs` copies of the 258 bytes before, 13 bits each.
  static func bomb(yielding byteCount: Int) -> [UInt8] {
    let runs = byteCount / 258
    // Final block, fixed codes, literal 0; then length 285 and distance 0; all from the lowest bit up.
    let head: [Bool] = [true, true, false, false, false, true, true, false, false, false, false]
    let run: [Bool] = [true, true, false, false, false, true, false, true, false, false, false, false, false]
    func bytes(_ bits: [Bool]) -> [UInt8] {
      stride(from: 0, to: bits.count, by: 8).map { start in
        bits[start..<min(start + 8, bits.count)].enumerated().reduce(0) {
          $0 | ($1.element ? 1 << UInt8($1.offset) : 0)
        }
      }
    }
    // Eight runs are thirteen bytes, so that from the second byte on the stream repeats.
    let eight = Array(repeatElement(run, count: 8).joined())
    let period = bytes(Array(eight[5...]) + Array(eight[..<5]))
    let end = bytes(Array(eight[5...]) + [Bool](repeating: false, count: 7))
    var stream = bytes(head + Array(eight[..<5]))
    for _ in 0..<max(0, runs / 8 - 1) { stream += period }
    return stream + end
  }

  private func residentBytes() -> Int {
    let descriptor = unsafe open("/proc/self/statm", O_RDONLY)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = unsafe read(descriptor, &bytes, bytes.count)
    let fields = String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: " ")
    return (fields.count > 1 ? Int(fields[1]) ?? 0 : 0) * sysconf(Int32(_SC_PAGESIZE))
  }

  @Test func bombIsAStreamOfZeros() throws {
    let stream = Self.bomb(yielding: 258 * 80)
    let zeros = try RawDeflate.inflate(stream.rawSpan, limit: CompressionLimits.inflatedByteCount)
    #expect(zeros == [UInt8](repeating: 0, count: 258 * 80 + 1))
  }

  @Test(arguments: [1 << 20, 64 << 20, 1 << 30])
  func threat09_bombOfAnySizeYieldsAnErrorAndNoMemory(byteCount: Int) throws {
    let stream = Self.bomb(yielding: byteCount)
    #expect(throws: CompressionError.outputTooLarge(limit: CompressionLimits.inflatedByteCount)) {
      try RawDeflate.inflate(stream.rawSpan, limit: CompressionLimits.inflatedByteCount)
    }
    // A thousand in a row. Other tests run beside this one, so the quietest of five batches counts.
    let small = Array(stream.prefix(64 << 10))
    var least = Int.max
    for _ in 0..<5 {
      let before = residentBytes()
      for _ in 0..<200 { _ = try? RawDeflate.inflate(small.rawSpan, limit: CompressionLimits.inflatedByteCount) }
      least = min(least, residentBytes() - before)
    }
    #expect(least < 4 << 20, "\(least) bytes more are resident")
  }

  @Test func threat09_brokenStreamsAreRefused() throws {
    func packed(_ stream: [UInt8], declaring count: Int? = nil) -> [UInt8] {
      let size = Packing.bucket(for: stream.count)
      let head = UInt16(truncatingIfNeeded: count ?? stream.count) | 0x8000
      let bytes = [UInt8(head >> 8), UInt8(truncatingIfNeeded: head)] + stream
      return bytes + [UInt8](repeating: 0, count: max(0, size - bytes.count))
    }
    let text = Array(String(repeating: "the same again, ", count: 40).utf8)
    let stream = try RawDeflate.deflate(text.rawSpan)
    #expect(try Packing.unpack(Packing.pack(text)) == text)
    let largest = Self.bomb(yielding: 5_000_000)
    try #require(largest.count <= CompressionLimits.packedBytes)
    for (what, bytes) in [
      ("a bomb as large as one seal can hold", packed(largest)),
      ("an empty stream", packed([])), ("one cut short", packed(Array(stream.dropLast(3)))),
      ("two in one", packed(stream + stream)), ("a lie that it is longer", packed(stream, declaring: stream.count + 5)),
      ("a lie that it is shorter", packed(stream, declaring: stream.count - 5)),
      ("a lie beyond the end", packed(stream, declaring: 0x7FFF)),
    ] {
      #expect(throws: CompressionError.self, "\(what)") { try Packing.unpack(bytes) }
    }
  }
}
