import FuzzSupport
import Sessions

/// Any bytes are the content of a message or an error; content has these bytes and no others.
private let fuzzer = Fuzzer(
  seeds: {
    let id = MessageID(high: 1, low: 2)
    let contents: [MessageContent] = [
      MessageContent(id: id, flags: .bot, substance: .text("hé")),
      MessageContent(id: id, flags: [.bot, .echo], substance: .ping(token: 5)),
      MessageContent(id: id, substance: .pong(token: 6, hops: 3, route: [])),
      MessageContent(id: id, substance: .pong(token: 6, hops: 3, route: Array(0..<15))),
    ]
    let head = Array(contents[1].encoded[..<16])
    let receipts: [MessageContent] = [
      MessageContent(id: id, substance: .delivered([id])), MessageContent(id: id, substance: .read([id, id])),
      MessageContent(id: id, substance: .read(Array(repeating: id, count: SessionsLimits.receiptMessages))),
    ]
    let full = receipts[2].encoded
    let others: [[UInt8]] = [
      receipts[0].encoded, receipts[1].encoded, full, full + full.suffix(16), Array(full.dropLast()),
      Array(receipts[0].encoded.dropLast(16)),
      [], head, head + [1, 0], head + [1, 0, 0xff], head + [9, 0], head + [2, 0, 1], contents[1].encoded + [0],
      contents[3].encoded + [0, 0, 0, 0], contents[2].encoded + [0],
      head + [1, 0] + [UInt8](repeating: 0x78, count: SessionsLimits.textBytes + 1),
    ]
    return (contents.map(\.encoded) + others).enumerated().map { ("content-\($0.offset)", $0.element) }
  },
  test: { bytes in
    guard let content = try? MessageContent(decoding: bytes) else { return }
    require(content.encoded == bytes, "content has one encoding")
    require(MessageID(hex: content.id.description) == content.id, "an ID comes back")
    switch content.substance {
    case .text(let text):
      require(!text.isEmpty && text.utf8.count <= SessionsLimits.textBytes, "a text keeps its bounds")
    case .pong(_, _, let route): require(route.count <= 15, "a route keeps its bound")
    case .ping: break
    case .delivered(let ids), .read(let ids):
      require(!ids.isEmpty && ids.count <= SessionsLimits.receiptMessages, "a receipt keeps its bound")
    }
  })

@_cdecl("FuzzContent_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
