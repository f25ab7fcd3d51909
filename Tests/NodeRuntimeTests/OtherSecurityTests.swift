import Bytes
import Identities
import Links
import MemoryTransport
import Sessions
import Streams
import Telemetry
import TestKit
import Testing

@testable import NodeRuntime

/// Nothing but its implementation knows how a link is protected: a security of three messages, 26 bytes a frame, keys
/// that change on the way and wear out does as well.
@Suite struct OtherSecurityTests {
  @Test(arguments: [64, 100, 244, 509])
  func nodesDoNotKnowHowLinksAreProtected(frameSize: Int) throws {
    let mesh = Mesh(seed: UInt64(frameSize), security: { ThreeWay(ownCard: $0) })
    mesh.medium.setConditions(MemoryConditions(loss: 0.05, delay: .milliseconds(3), frameSize: frameSize))
    for name in ["A", "B", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(60))
    try #require(mesh.isAcquainted())
    let sender = mesh.members[0].node.session
    for number in 0..<100 {
      _ = try mesh.call { try await sender.send("message \(number)", to: .everyone) }
      mesh.run(for: .milliseconds(500))
    }
    // What a worn session takes with it is found by the next comparisons, a few frames of 64 bytes at a time.
    mesh.run(for: .seconds(120)) { mesh.heard[2].count == 100 }
    #expect(mesh.heard[2].count == 100 && mesh.heard[2].values.allSatisfy { $0 == 1 })
    #expect(mesh.members[1].node.links.counters[.established] > 4, "sessions wore out and were made anew")
    mesh.stop()
  }
}

/// Proves nothing and hides little; it has the shape of a real one.
private struct ThreeWay: LinkSecurity {
  let ownCard: Latest<VerifiedCard>

  func handshake(role: HandshakeRole, hellos: [UInt8]) -> any LinkHandshake {
    Handshake(role: role, card: ownCard.value)
  }

  final class Handshake: LinkHandshake {
    let role: HandshakeRole
    let card: VerifiedCard
    var received = 0

    init(role: HandshakeRole, card: VerifiedCard) {
      self.role = role
      self.card = card
    }

    func start() async throws(LinkSecurityError) -> HandshakeProgress {
      await Task.yield()
      return HandshakeProgress(messages: role == .initiator ? [[1]] : [])
    }

    func receive(_ message: [UInt8]) async throws(LinkSecurityError) -> HandshakeProgress {
      await Task.yield()
      received += 1
      switch (role, received) {
      case (.responder, 1):
        guard message == [1] else { throw .malformed }
        return HandshakeProgress(messages: [[2] + card.encoded])
      case (.initiator, 1): return HandshakeProgress(messages: [[3] + card.encoded], established: try link(message, 2))
      case (.responder, 2): return HandshakeProgress(established: try link(message, 3))
      default: throw .malformed
      }
    }

    private func link(_ message: [UInt8], _ mark: UInt8) throws(LinkSecurityError) -> EstablishedLink {
      let bytes = Array(message.dropFirst())
      guard message.first == mark, let card = try? VerifiedCard(verifying: bytes.rawSpan) else { throw .cardRefused }
      return EstablishedLink(card: card, session: Session())
    }
  }

  /// `length 2 ‖ counter 8 ‖ content under a pad that changes with the counter ‖ tag 16`.
  final class Session: LinkSession {
    var overhead: Int { 26 }
    var isWornOut: Bool { sent >= 60 }
    var sent: UInt64 = 0

    func tick(now: MonotonicTime) {}

    func seal(_ content: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
      sent += 1
      let pad = UInt8(truncatingIfNeeded: sent / 64 &* 37 &+ 11)
      let length = content.count + 24
      let counter = (0..<8).map { UInt8(truncatingIfNeeded: sent >> (56 - 8 * UInt64($0))) }
      let sum = content.reduce(UInt8(0), &+)
      return [UInt8(length >> 8), UInt8(truncatingIfNeeded: length)] + counter + content.map { $0 ^ pad }
        + [UInt8](repeating: sum, count: 16)
    }

    func open(_ frame: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
      guard frame.count >= 26, Int(frame[0]) << 8 | Int(frame[1]) == frame.count - 2 else { throw .frameRefused }
      let counter = frame[2..<10].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      let pad = UInt8(truncatingIfNeeded: counter / 64 &* 37 &+ 11)
      let content = frame[10..<frame.count - 16].map { $0 ^ pad }
      guard frame.suffix(16).allSatisfy({ $0 == content.reduce(UInt8(0), &+) }) else { throw .frameRefused }
      return content
    }
  }
}
