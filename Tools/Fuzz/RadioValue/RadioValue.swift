import BlueZTransport
import FuzzSupport
import Streams

/// What a device may write into our characteristic: any bytes are a message with one encoding or none, and two ends that
/// are fed them say nothing that the other end could not read, and count what they were not.
private let fuzzer = Fuzzer(
  seeds: {
    let hello = LinkMessage.hello(.init(isDialler: true, mtu: 517, token: 7, heard: 0))
    let messages: [LinkMessage] = [
      hello, .data(sequence: 0, frame: [1, 2, 3]), .grant(0), .probe(3), .bye, .tagged(2, .bye), .tagged(2, hello),
      .tagged(2, .data(sequence: 1, frame: [9])),
    ]
    let one = messages.enumerated().map {
      ("message-\($0.offset)", [0] + [UInt8($0.element.bytes.count)] + $0.element.bytes)
    }
    return one + [
      ("all", [0] + messages.flatMap { [UInt8($0.bytes.count)] + $0.bytes }), ("garbage", [1, 3, 0xE0, 1, 2]),
    ]
  },
  test: { bytes in
    if let message = LinkMessage(decoding: Array(bytes.dropFirst(2))) {
      require(LinkMessage(decoding: message.bytes) == message, "a message comes back")
    }
    if let advertisement = NodeAdvertisement(decoding: Array(bytes.prefix(6))) {
      require(advertisement.bytes == Array(bytes.prefix(6)), "an advertisement comes back")
    }
    guard let first = bytes.first else { return }
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var negotiation = LinkNegotiation(isDialler: first & 1 != 0, token: 2, now: now)
    if first & 2 != 0 { _ = negotiation.resolved("/c", mtu: Int(first) * 3, now: now) }
    if first & 4 != 0 { _ = negotiation.subscribed(now: now) }
    // Values, each behind its length.
    var rest = bytes.dropFirst()
    var (isOver, longest) = (false, 0)
    while let length = rest.popFirst() {
      let value = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
      longest = max(longest, value.count)
      now = now.advanced(by: .milliseconds(Int64(length)))
      for action in negotiation.received(value, hasRoom: length & 1 == 0, now: now) + negotiation.tick(now: now) {
        require(!isOver, "nothing is said after the end")
        switch action {
        case .say(let message): require(LinkMessage(decoding: message.bytes) == message, "what is said can be read")
        // One that has overtaken another waits, so it may be part of a value of before.
        case .deliver(let frame): require(!frame.isEmpty && frame.count < longest, "a frame is part of a value")
        case .end, .refuse: isOver = true
        default: break
        }
      }
      require(negotiation.garbage <= BlueZLimits.garbage, "garbage ends a link")
    }
  })

@_cdecl("FuzzRadioValue_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
