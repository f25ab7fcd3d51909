import FuzzSupport
import LocalTransport

/// Any bytes are a message of a local link or none; a message has these bytes and no others.
private let fuzzer = Fuzzer(
  seeds: {
    let messages: [LocalMessage] = [
      .connect(name: "ada"), .connected, .refused(reason: "out of reach é"), .discoverService(Array(0..<16)),
      .serviceFound, .discoverCharacteristic(Array(0..<16)), .characteristicFound, .subscribe, .subscribed,
      .frame([1, 2, 3]), .frame([]),
    ]
    let others: [[UInt8]] = [[1], [1, 0x2f], [3] + [UInt8](repeating: 0x61, count: 129), [3, 0xff], [99], [4, 1]]
    return (messages.map(\.encoded) + others).enumerated().map { ("message-\($0.offset)", $0.element) }
  },
  test: { bytes in
    if let message = LocalMessage(decoding: bytes[...]) {
      require(message.encoded == bytes, "a message has one encoding")
      if case .connect(let name) = message { require(LocalName.isValid(name), "a name is valid") }
    }
    if let beacon = LocalDirectory.advertisement(bytes) {
      require(LocalDirectory.advertisement(Array(LocalDirectory.text(beacon).utf8)) == beacon, "a beacon comes back")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    require(LocalName.isValid(LocalName.made(from: UInt64(bytes.count) &* 0x9E37_79B9_7F4A_7C15)), "any number names")
    let refusal = LocalMessage.refused(reason: text).encoded
    require(refusal.count <= 129 && LocalMessage(decoding: refusal[...]) != nil, "every reason can be said")
  })

@_cdecl("FuzzLocalMessage_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
