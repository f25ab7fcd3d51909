import Bytes
import Primitives
import Streams
import TestKit
import WireFormat

@testable import Links

/// One direction of a link that loses nothing and carries so many bytes a second, behind a transport that holds frames,
/// refuses more and says when there is room again; acknowledgements come back unhindered. In virtual time.
struct PacedWire: ~Copyable {
  static let held = 96
  static let delay: Duration = .milliseconds(30)
  /// What the seal and the transport put around the content of a frame.
  static let around = 28

  let limit = 481
  let bytesPerSecond: Int
  var sender = LinkTransfer(bytesPerSecond: 30_000)
  var receiver = LinkTransfer(bytesPerSecond: 30_000)
  var reassembly = Reassembly()
  var identifier: PacketIdentifier
  var random = SeededGenerator(seed: 11)
  var now = MonotonicTime(nanoseconds: 1_000_000_000)
  /// When each frame has left the transport, and it with its arrival.
  private var leaving: [MonotonicTime] = []
  private var arriving: [(due: MonotonicTime, content: [UInt8])] = []
  private var returning: [(due: MonotonicTime, content: [UInt8])] = []
  private var free = MonotonicTime.start
  private var refused: [UInt8]?
  var doubles = 0
  /// Bytes on the radio if nothing is sent twice.
  private(set) var bytesNeeded = 0

  init(bytesPerSecond: Int) throws {
    self.bytesPerSecond = bytesPerSecond
    identifier = try PacketIdentifier()
  }

  mutating func enqueue(count: Int, byteCount: Int) throws {
    for number in 0..<count {
      let body = (0..<byteCount - 32).map { _ in UInt8.random(in: 0...255, using: &random) }
      let packet = try PacketDraft(
        kind: .personal, time: UInt64(number), origin: Tag(rawValue: 1), destination: Tag(rawValue: 2), body: body
      ).unsigned()
      let key = try identifier.id(of: packet).key
      let frames = try Fragmenter(packet: packet.encoded, key: key, payloadByteCount: limit).frames
      bytesNeeded += frames.reduce(0) { $0 + $1.count + Self.around }
      sender.enqueue(
        OutgoingPacket(key: key, bytes: packet.encoded, trafficClass: .personal, since: now, expiry: .never))
    }
  }

  mutating func run(atMost duration: Duration) throws {
    let end = now.advanced(by: duration)
    while sender.waiting > 0, now < end {
      flush()
      try answer()
      let next = [
        leaving.first, arriving.first?.due, returning.first?.due, refused == nil ? sender.deadline : nil,
        receiver.deadline, reassembly.nextDeadline.map { MonotonicTime(nanoseconds: $0 * 1_000_000) },
      ].compactMap(\.self).min()
      now = max(now.advanced(by: .microseconds(100)), next ?? end)
      let wasBlocked = refused != nil
      leaving.removeAll { $0 <= now }
      if wasBlocked, leaving.count <= Self.held - 8 { sender.moved(now: now) }
      while let first = arriving.first, first.due <= now { try receive(arriving.removeFirst().content) }
      while let first = returning.first, first.due <= now {
        let content = returning.removeFirst().content
        switch try LinkFrame(decoding: content.rawSpan) {
        case .acknowledgment(let keys): _ = sender.acknowledge(keys, now: now)
        case .fragmentRequest(let key, let ranges):
          sender.request(key, ranges: ranges.map { $0.first..<$0.end }, now: now)
        default: break
        }
      }
      sender.tick(now: now)
    }
  }

  private mutating func flush() {
    if leaving.count > Self.held - 8, refused != nil { return }
    while let content = refused.take() ?? sender.nextContent(limit: limit, now: now) {
      guard leaving.count < Self.held else {
        refused = content
        return
      }
      let time = Duration.microseconds((content.count + Self.around) * 1_000_000 / bytesPerSecond)
      free = max(free, now).advanced(by: time)
      leaving.append(free)
      arriving.append((free.advanced(by: Self.delay), content))
    }
  }

  private mutating func answer() throws {
    let milliseconds = now.nanoseconds / 1_000_000
    receiver.tick(now: now)
    for request in reassembly.missing(now: milliseconds) { receiver.enqueue(content: request.frame.encoded) }
    while let content = receiver.nextContent(limit: limit, now: now) {
      returning.append((now.advanced(by: Self.delay), content))
    }
  }

  private mutating func receive(_ content: [UInt8]) throws {
    switch try LinkFrame(decoding: content.rawSpan) {
    case .packet:
      let packet = try Packet(decoding: Array(content[LinkFrame.packetOffset...]))
      take(try identifier.id(of: packet).key)
    case .fragment(let head):
      guard !receiver.isRepetition(head.key, now: now) else {
        doubles += 1
        return
      }
      let result = reassembly.receive(
        head, data: content.rawSpan.extracting(LinkFrame.dataOffset..<content.count), link: 1,
        now: now.nanoseconds / 1_000_000, identifier: &identifier)
      if case .completed(_, let id) = result.outcome { take(id.key) }
      if result.outcome == .duplicate { doubles += 1 }
    default: break
    }
  }

  private mutating func take(_ key: UInt64) {
    if receiver.isRepetition(key, hops: 0, now: now) { doubles += 1 } else { receiver.accept(key, hops: 0, now: now) }
  }
}
