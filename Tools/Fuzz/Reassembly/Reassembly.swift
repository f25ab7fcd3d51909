import Bytes
import FuzzSupport
import Primitives
import WireFormat

/// A stream of fragments, requests, expiries and closed links, as the bytes say: the bounds hold at every step, and
/// what is completed is what its key says.
private let fuzzer = Fuzzer(
  seeds: {
    let fragments: [UInt8] = (0..<80).flatMap { sender -> [UInt8] in
      [0, 0, sender, 0, 0, 0, sender, 1, 0, 0, sender, 0]
    }
    let mixed: [UInt8] = (0..<9).flatMap { sender -> [UInt8] in [0, 1, sender, 1, 2, 200, 9, 0, 1, sender, 0] }
    let crowd: [UInt8] = (0..<40).flatMap { key -> [UInt8] in [1, 0, key, 0, 3, 2] } + [2, 30, 7, 2, 0, 7, 2, 200, 7]
    let heavy: [UInt8] = (0..<190).flatMap { key -> [UInt8] in [1, key & 15, key, 0, 2, 255] }
    let single: [UInt8] = (0..<40).flatMap { key -> [UInt8] in [1, 0, key, 0, 2, 255] }
    let conflicts: [UInt8] = [
      1, 0, 7, 1, 4, 3, 1, 0, 7, 1, 5, 3, 1, 0, 7, 0, 4, 2, 1, 0, 7, 3, 4, 4, 1, 0, 7, 3, 4, 2, 1, 0, 7, 0, 2, 1, 2, 9,
      7, 3, 200, 4, 0, 5, 9, 60, 0, 20, 2, 200, 7, 3, 255, 4, 255, 6, 1,
    ]
    return [
      ("fragments", fragments), ("mixed", mixed), ("crowd", crowd), ("heavy", heavy), ("single", single),
      ("conflicts", conflicts),
    ]
  },
  test: { bytes in
    guard let identifier = try? PacketIdentifier() else { return }
    var player = Player(bytes, identifier: identifier, senders: senders)
    player.play()
  })

/// Packets whose fragments a stream can send.
private let senders: [Fragmenter] = (try? makeSenders()) ?? []

private func makeSenders() throws -> [Fragmenter] {
  var identifier = try PacketIdentifier()
  return try (0..<80).map { index in
    let packet = try PacketDraft(
      kind: .personal, time: 1, origin: Tag(rawValue: UInt64(index)), body: [UInt8](repeating: 1, count: 200)
    ).unsigned()
    let key = try identifier.id(of: packet).key
    // Two of sixteen lie: one about the key, one about being a packet.
    switch index % 16 {
    case 14: return try Fragmenter(packet: [UInt8](repeating: 9, count: 200), key: key, payloadByteCount: 150)
    case 15: return try Fragmenter(packet: packet.encoded, key: key ^ 1, payloadByteCount: 150)
    default: return try Fragmenter(packet: packet.encoded, key: key, payloadByteCount: 150)
    }
  }
}

private struct Player: ~Copyable {
  private let bytes: [UInt8]
  private var offset = 0
  private var now: UInt64 = 0
  private var reassembly = Reassembly()
  private var identifier: PacketIdentifier
  private let senders: [Fragmenter]

  init(_ bytes: [UInt8], identifier: consuming PacketIdentifier, senders: [Fragmenter]) {
    self.bytes = bytes
    self.identifier = identifier
    self.senders = senders
  }

  private mutating func next() -> UInt8 {
    guard offset < bytes.count else { return 0 }
    offset += 1
    return bytes[offset - 1]
  }

  mutating func play() {
    while offset < bytes.count {
      switch next() % 7 {
      case 0: sendTrueFragment()
      case 1: sendInventedFragment()
      case 2:
        now &+= UInt64(next()) * 10
        let requests = reassembly.missing(now: now, rangeLimit: Int(next()))
        for request in requests {
          let frame = request.frame.encoded
          require((try? LinkFrame(decoding: frame.rawSpan)) == request.frame, "a request can be sent")
        }
      case 3:
        now &+= UInt64(next()) * 1_000
        _ = reassembly.expire(now: now)
      case 4: reassembly.drop(link: UInt64(next() & 15))
      case 5: cut()
      default: now = next() == 0 ? .max : now &- min(now, 1_000)
      }
      check()
    }
    for link: UInt64 in 0...15 { reassembly.drop(link: link) }
    require(reassembly.charge == 0 && reassembly.bufferCount == 0, "nothing is left of closed links")
    require(reassembly.nextDeadline == nil, "nothing is due without packets in pieces")
  }

  /// A packet of any size in frames of any size, some of which the link refuses.
  private mutating func cut() {
    let packet = [UInt8](repeating: 1, count: Int(next()) * 160)
    guard let sender = try? Fragmenter(packet: packet, key: 99, payloadByteCount: Int(next())) else { return }
    let range = FragmentRange(first: Int(next()), count: Int(next()))
    for index in sender.indices(in: [range]).prefix(3) {
      var frame: [UInt8] = []
      sender.appendFrame(index, to: &frame)
      require((try? LinkFrame(decoding: frame.rawSpan)) != nil || packet.isEmpty, "what is cut is a frame")
    }
    var nothing: [UInt8] = []
    sender.appendFrame(sender.frameCount, to: &nothing)
    require(nothing.isEmpty && sender.frames.count == sender.frameCount, "there are as many frames as said")
  }

  private mutating func sendTrueFragment() {
    let link = UInt64(next() & 15)
    let sender = senders[Int(next()) % senders.count]
    var frame: [UInt8] = []
    sender.appendFrame(Int(next()) % sender.frameCount, to: &frame)
    receive(frame, link: link)
  }

  private mutating func sendInventedFragment() {
    let link = UInt64(next() & 15)
    let key = UInt64(next())
    let index = Int(next())
    let count = Int(next())
    // Mostly small, so that a stream runs fast; now and then large, so that memory runs out.
    let size = Int(next())
    let data = [UInt8](repeating: 1, count: size < 240 ? 1 + size : size * 61)
    guard let head = try? FragmentHead(key: key, index: index, count: count) else { return }
    var frame: [UInt8] = []
    LinkFrame.appendFragment(head, data: data.rawSpan, to: &frame)
    receive(frame, link: link)
  }

  private mutating func receive(_ frame: [UInt8], link: UInt64) {
    guard case .fragment(let head)? = try? LinkFrame(decoding: frame.rawSpan) else {
      return require(false, "a fragment is one")
    }
    let result = reassembly.receive(
      head, data: frame.rawSpan.extracting(LinkFrame.dataOffset..<frame.count), link: link, now: now,
      identifier: &identifier)
    if case .completed(_, let id) = result.outcome { require(id.key == head.key, "a packet is what its key says") }
    if case .dropped = result.outcome { require(!result.dropped.isEmpty, "what is dropped has a reason") }
  }

  private func check() {
    var sum = 0
    require((reassembly.nextDeadline == nil) == (reassembly.bufferCount == 0), "something is due while pieces wait")
    require(reassembly.bufferCount <= 16 * WireLimits.buffersPerLink, "all buffers are bounded")
    for link: UInt64 in 0...15 {
      sum += reassembly.charge(link: link)
      require(reassembly.bufferCount(link: link) <= WireLimits.buffersPerLink, "buffers are bounded")
      require(reassembly.charge(link: link) <= WireLimits.bufferedByteCountPerLink, "a link's memory is bounded")
    }
    require(sum == reassembly.charge && sum <= WireLimits.bufferedByteCount, "memory is counted and bounded")
  }
}

@_cdecl("FuzzReassembly_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
