import Bytes
import Identities
import Links
import MemoryTransport
import Primitives
import Streams
import TestKit
import Testing
import Transports
import WireFormat

@testable import NodeRuntime

/// A node that follows the rules as far as it likes: a radio on the medium of a mesh with keys of its own, which can
/// complete a real handshake and then send whatever it wants.
///
/// It is heard by nobody, because it does not advertise; it dials. Used by the thread of the test alone.
final class Adversary {
  let name: String
  let radio: MemoryRadio
  let keys: IdentityKeys
  let card: VerifiedCard
  private let mesh: Mesh
  private let task: Task<Void, any Error>

  /// - Parameter radioName: what others see as its address; its own name unless it borrows another's.
  init(_ name: String, on mesh: Mesh, radioName: String? = nil) throws {
    self.name = name
    self.mesh = mesh
    let wall = mesh.simulation.time.source.wallMilliseconds()
    keys = try IdentityKeys(generatedFrom: .system, now: wall)
    card = try keys.makeCard(name: try PeerName(name), icon: .none, capabilities: [], sequence: 1, now: wall)
    let numbers = mesh.linkNumbers
    let radio = mesh.medium.makeTransport(name: radioName ?? name) { LinkID(number: numbers.count()) }
    self.radio = radio
    task = mesh.simulation.start { try await radio.run() }
    mesh.run(for: .milliseconds(1))
  }

  func stop() { task.cancel() }

  /// A link to a node that hears it, before anything was said.
  func open(_ peer: String) throws -> any TransportLink {
    mesh.medium.setReach(radio.name, peer, true)
    return try mesh.call { [radio] in try await radio.connect(to: TransportAddress(peer)) { _ in } }
  }

  /// What a dialler says first: its hello, and a first message of the handshake that is as good as anybody's.
  func greet(_ link: any TransportLink, with message: [UInt8]) {
    var transfer = HandshakeTransfer()
    let now = mesh.simulation.time.now
    transfer.send(Hello(frameSize: UInt16(link.frameSize), token: 7).bytes)
    transfer.send(message)
    while let frame = transfer.nextFrame(limit: link.frameSize, now: now) {
      _ = link.send(frame)
      _ = try? transfer.receive([0x81, frame[1]])
    }
  }

  /// Links with a node as an honest peer would, under the card it is given: its own unless told.
  func join(
    _ peer: String, card: VerifiedCard? = nil, change: @escaping @Sendable (Int, inout [UInt8]) -> Void = { _, _ in }
  ) throws -> AdversaryLink {
    let link = try open(peer)
    let seal = LinkSeal(
      agreement: keys.sharedAgreementKey(), ownCard: Latest(card ?? self.card), random: .system,
      time: mesh.simulation.time.source)
    let time = mesh.simulation.time
    return try mesh.call { try await AdversaryLink(joining: link, seal: seal, time: time, change: change) }
  }
}

/// A link of an adversary after a real handshake.
final class AdversaryLink: @unchecked Sendable {
  let link: any TransportLink
  private(set) var peer: VerifiedCard?
  private var session: (any LinkSession)?
  private var transfer = HandshakeTransfer()
  private let time: ManualTime
  /// What the peer has sent, opened.
  private(set) var contents: [[UInt8]] = []
  /// The sealed frames that were sent, as they were on the air.
  private(set) var sent: [[UInt8]] = []
  /// Whether the packets that come are acknowledged.
  var isAcknowledging = true
  private var identifier: PacketIdentifier

  /// - Parameter change: sees, and may change, every message of the handshake that leaves, by its number.
  init(
    joining link: any TransportLink, seal: LinkSeal, time: ManualTime,
    change: (Int, inout [UInt8]) -> Void
  ) async throws {
    self.link = link
    self.time = time
    identifier = try PacketIdentifier()
    let hello = Hello(frameSize: UInt16(link.frameSize), token: 7).bytes
    var number = 0
    var handshake: (any LinkHandshake)?
    transfer.send(hello)
    pump()
    while session == nil || !transfer.isSettled, let input = await link.inputs.next() {
      guard case .frame(let frame) = input else { continue }
      guard HandshakeTransfer.owns(frame) else {
        take(frame)
        continue
      }
      guard let message = try transfer.receive(frame), session == nil else {
        pump()
        continue
      }
      let progress: HandshakeProgress
      if let handshake {
        progress = try await handshake.receive(message)
      } else {
        handshake = try seal.handshake(role: .initiator, hellos: hello + message)
        progress = try await handshake!.start()
      }
      for var message in progress.messages {
        change(number, &message)
        number += 1
        transfer.send(message)
      }
      if let established = progress.established { (peer, session) = (established.card, established.session) }
      pump()
    }
    if session == nil { throw LinkSecurityError.handshakeRefused }
  }

  private func pump() {
    while let frame = transfer.nextFrame(limit: link.frameSize, now: time.now) { _ = link.send(frame) }
  }

  /// Takes what has come.
  func read() {
    while let input = link.inputs.poll() {
      guard case .frame(let frame) = input else { continue }
      if HandshakeTransfer.owns(frame) {
        _ = try? transfer.receive(frame)
        pump()
      } else {
        take(frame)
      }
    }
  }

  private func take(_ frame: [UInt8]) {
    guard let content = try? session?.open(frame) else { return }
    contents.append(content)
    guard isAcknowledging, content.first == 1, let packet = try? Packet(decoding: Array(content.dropFirst())),
      let id = try? identifier.id(of: packet)
    else { return }
    send(LinkFrame.acknowledgment([id.key]).encoded)
  }

  /// The whole packets that have come.
  var packets: [Packet] {
    contents.compactMap { $0.first == 1 ? try? Packet(decoding: Array($0.dropFirst())) : nil }
  }

  /// Seals and sends whatever it is.
  @discardableResult
  func send(_ content: [UInt8]) -> LinkSend {
    guard let frame = try? session?.seal(content) else { return .closed }
    sent.append(frame)
    return link.send(frame)
  }

  /// Sends a packet, or what looks like one, whole or in pieces.
  func send(packet bytes: [UInt8]) throws {
    let key = try (try? Packet(decoding: bytes)).map { try identifier.id(of: $0).key } ?? 0
    let limit = link.frameSize - (session?.overhead ?? 0)
    for content in try Fragmenter(packet: bytes, key: key, payloadByteCount: limit).frames {
      try #require(send(content) == .sent)
    }
  }
}
