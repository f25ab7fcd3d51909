import Bytes
import FuzzSupport
import WireFormat

/// Any bytes are a frame or an error; a frame has these bytes and no others.
private let fuzzer = Fuzzer(
  seeds: {
    let frames: [(String, LinkFrame)] = [
      ("acknowledgment", .acknowledgment([1, 2, 3])), ("ping", .ping(token: 4)), ("pong", .pong(token: 5)),
      ("goodbye", .goodbye(.stopping)),
      (
        "request",
        .fragmentRequest(key: 9, ranges: [FragmentRange(first: 0, count: 2), FragmentRange(first: 4, count: 1)])
      ),
    ]
    let trees: [(String, LinkFrame)] = [
      ("prune", .prune([Tag(rawValue: 7), Tag(rawValue: 8)])), ("announcement", .announcement([1, .max])),
      (
        "comparison",
        .reconciliation(.comparison([.init(start: 9, count: 1, sum: 2), .init(start: 0, count: 3, sum: 4)]))
      ),
      ("difference", .reconciliation(.difference(5))),
      (
        "symbol-request",
        .reconciliation(
          .symbolRequest(.init(number: 1, salt: 2, start: 3, end: 4, first: 5, count: 6)))
      ),
      ("symbols", .reconciliation(.symbols(number: 1, first: 2, [CodedSymbol(count: 3, sum: 4, check: 5)]))),
      ("wanted", .reconciliation(.wanted([7, 8]))),
      ("graft", .graft([2])), ("reopen-all", .reopen([])), ("reopen", .reopen([Tag(rawValue: 9)])),
      ("widen", .widen(.everybody, [3, 4])), ("widen-lanes", .widen(.lanes, [5])),
    ]
    let packet = [UInt8](repeating: 3, count: 60)
    let pieces = try Fragmenter(packet: packet, key: 8, payloadByteCount: 38).frames
    return (frames + trees).map { ($0.0, $0.1.encoded) } + [("packet", [1] + packet), ("ignored", [90, 1])]
      + pieces.enumerated().map { ("fragment-\($0.offset)", $0.element) }
  },
  test: { bytes in
    guard let frame = try? LinkFrame(decoding: bytes.rawSpan) else { return }
    let offset = frame.contentOffset(in: bytes.count)
    require(offset <= bytes.count, "content lies inside its frame")
    var copy: [UInt8] = []
    frame.append(to: &copy, content: bytes.rawSpan.extracting(offset..<bytes.count))
    require(copy == bytes, "a frame has one encoding")
    switch frame {
    case .packet, .fragment, .ignored: require(offset <= 13, "content follows the head")
    default: require(frame.encoded == bytes, "a frame without content is its head")
    }
    if case .acknowledgment(let keys) = frame {
      require(LinkFrame.acknowledgments(of: keys, payloadByteCount: 509) == [bytes], "keys go in one frame")
    }
    for size in [38, 509] {
      switch frame {
      case .prune, .announcement, .graft, .reopen:
        let pieces = frame.encoded(payloadByteCount: size)
        require(pieces.allSatisfy { $0.count <= size }, "every piece fits")
        require(pieces.flatMap { $0.dropFirst() } == Array(bytes.dropFirst()), "the pieces say what the frame says")
      case .widen(let scope, let keys):
        let pieces = frame.encoded(payloadByteCount: size)
        require(pieces.allSatisfy { $0.count <= size && $0[1] == scope.rawValue }, "every piece fits")
        require(pieces.flatMap { $0.dropFirst(2) }.count == keys.count * 8, "the pieces say what the frame says")
      case .reconciliation:
        require(frame.encoded(payloadByteCount: size).allSatisfy { $0.count <= size }, "every piece fits")
      default: break
      }
    }
    if case .fragmentRequest(let key, let ranges) = frame,
      let sender = try? Fragmenter(packet: [UInt8](repeating: 1, count: 2_000), key: key, payloadByteCount: 60)
    {
      let indices = sender.indices(in: ranges)
      require(indices.allSatisfy { (0..<sender.frameCount).contains($0) }, "only what exists is sent again")
    }
  })

@_cdecl("FuzzLinkFrame_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
