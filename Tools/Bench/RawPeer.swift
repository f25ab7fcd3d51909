import Bytes
import CLinux
import Glibc
import Identities
import Lifecycle
import Links
import LocalTransport
import Primitives
import Streams
import Transports
import WireFormat

/// A neighbour of the daemon under test, as thin as it can be: a blocking packet socket, the dial, the handshake, and
/// frames by hand. What it measures is the daemon and not itself.
final class RawPeer {
  struct Failure: Error { var what: String }

  let descriptor: Int32
  let id: PeerID
  private var session: any LinkSession
  private var buffer = [UInt8](repeating: 0, count: 4_097)
  private var owed: [UInt64] = []
  /// When the last message came out of the socket, before anything looked into it.
  private(set) var arrivedAt: UInt64 = 0

  /// Dials the node `name` in `directory` and secures the link.
  init(name: String, dialling peer: String, in directory: String) async throws {
    let keys = try IdentityKeys(generatedFrom: .system, now: 1_767_225_600_000)
    let card = try keys.makeCard(
      name: try PeerName(name), icon: .none, capabilities: [], sequence: 1, now: 1_767_225_600_000)
    id = card.id
    let descriptor = socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    self.descriptor = descriptor
    session = UnsetSession()
    let address = try UnixSocketAddress(path: "\(directory)/\(peer).sock")
    guard unsafe address.withPointer({ unsafe connect(descriptor, $0, $1) }) == 0 else {
      throw Failure(what: "connect to \(peer): \(errno)")
    }
    var (dial, first) = LocalDial.outgoing(from: name)
    try send(message: first)
    dialling: while true {
      guard let message = LocalMessage(decoding: try receive()) else { throw Failure(what: "dial") }
      for action in dial.receive(message, admit: { _ in nil }) {
        switch action {
        case .send(let answer): try send(message: answer)
        case .reached: break
        case .ready: break dialling
        case .fail(let reason): throw Failure(what: reason)
        }
      }
    }
    session = try await secure(card, keys.sharedAgreementKey())
  }

  deinit { close(descriptor) }

  private func secure(_ card: VerifiedCard, _ agreement: consuming P256AgreementKey) async throws -> any LinkSession {
    var transfer = HandshakeTransfer()
    let security = LinkSeal(
      agreement: agreement, ownCard: Latest(card), random: .system,
      time: TimeSource(now: { MonotonicTime(nanoseconds: Stopwatch.now()) }, wallMilliseconds: { 0 }, sleep: { _ in }))
    let hello = Hello(frameSize: 509, token: 1).bytes
    transfer.send(hello)
    var handshake: (any LinkHandshake)?
    var time = MonotonicTime(nanoseconds: 1)
    while true {
      while let frame = transfer.nextFrame(limit: 509, now: time) { try send(message: .frame(frame)) }
      time.nanoseconds += 1
      guard case .frame(let frame)? = LocalMessage(decoding: try receive()) else { throw Failure(what: "handshake") }
      guard let message = try transfer.receive(frame) else { continue }
      let progress: HandshakeProgress
      if handshake == nil {
        handshake = try security.handshake(role: .initiator, hellos: hello + message)
        progress = try await handshake!.start()
      } else {
        progress = try await handshake!.receive(message)
      }
      for message in progress.messages { transfer.send(message) }
      guard let established = progress.established else { continue }
      while !transfer.isSettled {
        while let frame = transfer.nextFrame(limit: 509, now: time) { try send(message: .frame(frame)) }
        if transfer.isSettled { break }
        if case .frame(let frame)? = LocalMessage(decoding: try receive()), HandshakeTransfer.owns(frame) {
          _ = try transfer.receive(frame)
        }
      }
      while let frame = transfer.nextFrame(limit: 509, now: time) { try send(message: .frame(frame)) }
      let session = established.session
      try send(message: .frame(try session.seal(LinkFrame.ping(token: 1).encoded)))
      return session
    }
  }

  private func send(message: LocalMessage) throws {
    let bytes = message.encoded
    guard unsafe Glibc.send(descriptor, bytes, bytes.count, 0) == bytes.count else { throw Failure(what: "send") }
  }

  private func receive() throws -> ArraySlice<UInt8> {
    let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
    arrivedAt = Stopwatch.now()
    guard count > 0 else { throw Failure(what: "the daemon hung up") }
    return buffer[..<count]
  }

  /// The message that carries a packet, ready to be written many times.
  func message(carrying packet: Packet) throws -> [UInt8] {
    var content: [UInt8] = []
    LinkFrame.appendPacket(packet.encoded.rawSpan, to: &content)
    return LocalMessage.frame(try session.seal(content)).encoded
  }

  func write(_ message: [UInt8]) {
    let count = unsafe Glibc.send(descriptor, message, message.count, 0)
    precondition(count == message.count, "the daemon hung up")
  }

  enum Reception {
    case packet(PacketHeader)
    case acknowledgments(Int)
    case other
  }

  /// The next frame of the daemon, waiting for it. Packets are acknowledged in groups, as a node does.
  func read(identifier: inout PacketIdentifier) throws -> Reception {
    guard case .frame(let frame)? = LocalMessage(decoding: try receive()), !HandshakeTransfer.owns(frame) else {
      return .other
    }
    let content = try session.open(frame)
    switch try LinkFrame(decoding: content.rawSpan) {
    case .packet:
      let packet = content.rawSpan.extracting(LinkFrame.packetOffset..<content.count)
      let header = try PacketHeader(decoding: packet)
      owed.append(try identifier.id(of: packet, header: header).key)
      if owed.count >= 16 { acknowledge() }
      return .packet(header)
    case .acknowledgment(let keys): return .acknowledgments(keys.count)
    default: return .other
    }
  }

  func acknowledge() {
    guard !owed.isEmpty, let frame = try? session.seal(LinkFrame.acknowledgment(owed).encoded) else { return }
    owed.removeAll(keepingCapacity: true)
    write(LocalMessage.frame(frame).encoded)
  }
}

/// Stands in until the handshake has given the real one.
private final class UnsetSession: LinkSession {
  var overhead: Int { 0 }
  var isWornOut: Bool { true }
  func tick(now: MonotonicTime) {}
  func seal(_ content: [UInt8]) throws(LinkSecurityError) -> [UInt8] { throw .malformed }
  func open(_ frame: [UInt8]) throws(LinkSecurityError) -> [UInt8] { throw .malformed }
}
