import Bytes
import Compression
import FuzzSupport

/// Any bytes inflate within the limit or give an error; what came out comes back the other way.
private let fuzzer = Fuzzer(
  seeds: {
    let inputs: [(String, [UInt8])] = [
      ("empty", []), ("text", Array("a message worth deflating, worth deflating, worth it".utf8)),
      ("zeros", [UInt8](repeating: 0, count: 20_000)), ("limit", [UInt8](repeating: 0, count: 65_536)),
      ("stored", (0..<300).map { UInt8(truncatingIfNeeded: $0 * 167) }),
    ]
    var seeds = try inputs.map { ($0.0, try RawDeflate.deflate($0.1.rawSpan)) }
    seeds.append(("trailing", seeds[1].1 + [0]))
    seeds.append(("nothing", []))
    return seeds
  },
  test: { bytes in
    for limit in [0, 100, CompressionLimits.inflatedByteCount] {
      guard let output = try? RawDeflate.inflate(bytes.rawSpan, limit: limit) else { continue }
      require(output.count <= limit, "the limit holds")
      guard let again = try? RawDeflate.deflate(output.rawSpan) else {
        return require(false, "what was inflated can be deflated")
      }
      require((try? RawDeflate.inflate(again.rawSpan)) == output, "deflating and inflating gives the same bytes")
    }
    let input = bytes.isEmpty ? [UInt8](repeating: 0, count: CompressionLimits.deflatedInputByteCount + 1) : bytes
    let isTooLarge = input.count > CompressionLimits.deflatedInputByteCount
    require(((try? RawDeflate.deflate(input.rawSpan)) == nil) == isTooLarge, "what is not too large is deflated")
  })

@_cdecl("FuzzInflate_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
