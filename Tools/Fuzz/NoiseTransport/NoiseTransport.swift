import Bytes
import FuzzSupport
import Noise
import Primitives

private typealias End = TransportState<AESGCM>

private func end(_ role: NoiseRole) throws -> End {
  let bytes = (0..<64).map { UInt8($0) }
  let keys = Secret(copying: bytes.rawSpan)
  return try End(keys: keys, role: role, isOneWay: false, handshakeHash: [], rekeyInterval: 1_024)
}

/// Messages 0 to 2, the last of the first key, and some under keys further on.
private let genuine: [[UInt8]] = {
  guard var sender = try? end(.initiator) else { return [] }
  let kept: Set<UInt64> = [0, 1, 2, 1_023, 1_024, 2_100, 9 * 1_024]
  var messages: [[UInt8]] = []
  while let last = kept.max(), sender.sendingCounter <= last {
    let counter = sender.sendingCounter
    var message: [UInt8] = []
    let content = [UInt8](repeating: UInt8(truncatingIfNeeded: counter), count: 5)
    guard (try? sender.seal(content.rawSpan, appendingTo: &message)) != nil else { return [] }
    if kept.contains(counter) { messages.append(message) }
  }
  return messages
}()

/// `length 1 ‖ message`, any number of times.
private func sequence(_ numbers: [Int]) -> [UInt8] {
  numbers.flatMap { [UInt8(genuine[$0].count)] + genuine[$0] }
}

/// Any messages in any order: what opens was sent, and opens once; a refusal leaves nothing.
private let fuzzer = Fuzzer(
  seeds: {
    [
      ("in-order", sequence([0, 1, 2])), ("late", sequence([2, 0, 1])), ("replayed", sequence([1, 1])),
      ("next-key", sequence([0, 4, 3, 5, 0])), ("far-ahead", sequence([6, 0, 6])), ("steps", sequence([0, 4, 6])),
    ]
  },
  test: { bytes in
    guard var receiver = try? end(.responder) else { return }
    var opened: Set<[UInt8]> = []
    var rest = bytes[...]
    while let length = rest.popFirst() {
      let message = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(message.count)
      var content: [UInt8] = [9]
      if (try? receiver.open(message.rawSpan, appendingTo: &content)) != nil {
        require(genuine.contains(message), "a forged message opens")
        require(opened.insert(message).inserted, "a message opens once")
        require(content.count == 1 + message.count - End.overhead, "a content has its size")
      } else {
        require(content == [9], "what was refused leaves nothing")
      }
    }
  })

@_cdecl("FuzzNoiseTransport_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
