import Bytes
import Compression
import FuzzSupport

/// Any bytes unpack within their bound or give an error; what was unpacked packs and unpacks to the same.
///
/// The first byte says what the rest is: a packing; its body, given a length and padding that fit; or content to pack.
private let fuzzer = Fuzzer(
  seeds: {
    let contents: [[UInt8]] = [
      [], Array("short".utf8), [UInt8](repeating: 0x61, count: 400), [UInt8](repeating: 0, count: 32_767),
      (0..<700).map { UInt8(truncatingIfNeeded: $0 * $0 * 167) },
      Array(repeating: Array("what is written again and again ".utf8), count: 30).flatMap { $0 },
    ]
    var seeds: [(String, [UInt8])] = []
    for (index, content) in contents.enumerated() {
      seeds.append(("packed-\(index)", [0] + (try Packing.pack(content))))
      if content.count < 2_000 { seeds.append(("content-\(index)", [3] + content)) }
      let deflated = try RawDeflate.deflate(content.rawSpan)
      seeds.append(("body-\(index)", [1] + deflated))
      seeds.append(("plain-\(index)", [2] + content.prefix(900)))
    }
    seeds.append(("bomb", [1] + (try RawDeflate.deflate([UInt8](repeating: 0, count: 65_536).rawSpan))))
    var padded = try Packing.pack(contents[1])
    padded[padded.count - 1] = 1
    seeds += [("padding", [0] + padded), ("length", [0, 0xff, 0xff, 1]), ("cut", [0, 0]), ("nothing", [])]
    return seeds
  },
  test: { bytes in
    let rest = Array(bytes.dropFirst())
    switch (bytes.first ?? 0) & 3 {
    case 0: unpack(rest)
    case 1: unpack(framed(rest, isCompressed: true))
    case 2: unpack(framed(rest, isCompressed: false))
    default: comesBack(rest)
    }
    comesBack([UInt8](repeating: bytes.first ?? 0, count: rest.count))
  })

private func unpack(_ packed: [UInt8]) {
  guard let content = try? Packing.unpack(packed) else { return }
  require(content.count <= CompressionLimits.packedBytes, "a packing keeps its bound")
  comesBack(content)
}

/// What is longer than the length can say is refused, everything else comes back in a bucket.
private func comesBack(_ content: [UInt8]) {
  guard let packed = try? Packing.pack(content) else {
    return require(content.count > CompressionLimits.packedBytes, "what is not too long can be packed")
  }
  require(packed.count <= Packing.bucket(for: content.count), "packing makes nothing longer than its bucket")
  require((try? Packing.unpack(packed)) == content, "packing and unpacking gives the same bytes")
}

private func framed(_ body: [UInt8], isCompressed: Bool) -> [UInt8] {
  let high = UInt8(truncatingIfNeeded: body.count >> 8) | (isCompressed ? 0x80 : 0)
  let bytes = [high, UInt8(truncatingIfNeeded: body.count)] + body
  return bytes + [UInt8](repeating: 0, count: max(0, Packing.bucket(for: body.count) - bytes.count))
}

@_cdecl("FuzzPacking_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
