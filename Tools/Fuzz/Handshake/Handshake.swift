import FuzzSupport
import Links
import Streams

/// Any stream of frames is a handshake or an error, takes no more memory than its bound, and every frame that is sent
/// back fits. The input is a stream of frames, each behind a byte with its length; an empty one lets time pass.
private let fuzzer = Fuzzer(
  seeds: {
    func stream(_ frames: [[UInt8]]) -> [UInt8] { frames.flatMap { [UInt8(clamping: $0.count)] + $0.prefix(255) } }
    let hello = Hello(frameSize: 509, token: 7).bytes
    let half = [UInt8](repeating: 1, count: 200)
    return [
      ("hello", stream([[0x80, 0, 1] + hello])),
      (
        "pieces",
        stream([[0x80, 0, 0] + hello[..<5], [0x80, 1, 1] + hello[5...], [0x80, 1, 1, 9], [0x80, 5, 1, 9]])
      ),
      ("acknowledged", stream([[0x81, 0], [], [0x81, 0], [0x81, 1], [], [0x81, 2]])),
      ("malformed", stream([[0x81, 0, 0]])), ("mark", stream([[0x90, 0, 0]])), ("flag", stream([[0x80, 0, 2, 1]])),
      ("short", stream([[0x80]])), ("later", stream([[0x80, 0, 1, 2]])), ("old", stream([[0x80, 0, 1, 1, 0]])),
      ("endless", stream((0..<8).map { [0x80, UInt8($0), 0] + half })),
    ]
  },
  test: { bytes in
    var transfer = HandshakeTransfer()
    var now = MonotonicTime.start
    let limit = max(4, Int(bytes.first ?? 4))
    transfer.send(Hello(frameSize: 64, token: 1).bytes)
    transfer.send([UInt8](repeating: 5, count: 300))
    var rest = bytes[...]
    while let length = rest.popFirst() {
      let frame = Array(rest.prefix(Int(length)))
      rest = rest.dropFirst(Int(length))
      if frame.isEmpty { now = transfer.deadline ?? now.advanced(by: .seconds(1)) }
      var sent = 0
      while sent < 4, let answer = transfer.nextFrame(limit: limit, now: now) {
        require(answer.count <= limit && HandshakeTransfer.owns(answer), "a frame fits")
        sent += 1
      }
      require(sent < 4, "it waits for the peer's turn")
      require(transfer.isSettled || transfer.deadline != nil, "what is not acknowledged is sent again")
      do throws(HandshakeTransferError) {
        guard let message = try transfer.receive(frame) else { continue }
        require((1...LinksLimits.handshakeBytes).contains(message.count), "a message keeps its bound")
        guard let hello = try? Hello(decoding: message) else { continue }
        require(
          message.starts(with: [Hello.version]) && hello.bytes.dropFirst(2) == message[2..<12], "a hello comes back")
      } catch {
        return
      }
    }
  })

@_cdecl("FuzzHandshake_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
