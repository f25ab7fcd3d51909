internal import Bytes
package import Identities
package import Streams

/// An exchange of signed cards in the open: it proves nothing about who sends a frame and hides nothing.
///
/// Both sides send their card as soon as the link is up and take the peer's once it verifies. A frame is
/// `length 2 ‖ content`.
package struct OpenExchange: LinkSecurity {
  private let ownCard: Latest<VerifiedCard>

  /// - Parameter ownCard: the newest card of this node, read at the start of every handshake.
  package init(ownCard: Latest<VerifiedCard>) { self.ownCard = ownCard }

  package func handshake(role: HandshakeRole, hellos: [UInt8]) -> any LinkHandshake {
    Handshake(ownCard: ownCard.value)
  }

  private struct Handshake: LinkHandshake {
    var ownCard: VerifiedCard

    mutating func start() async throws(LinkSecurityError) -> HandshakeProgress {
      HandshakeProgress(messages: [ownCard.encoded])
    }

    mutating func receive(_ message: [UInt8]) async throws(LinkSecurityError) -> HandshakeProgress {
      let card: VerifiedCard
      do {
        card = try VerifiedCard(verifying: message.rawSpan)
      } catch {
        throw .cardRefused
      }
      guard card.id != ownCard.id else { throw .ownCard }
      return HandshakeProgress(established: EstablishedLink(card: card, session: Session()))
    }
  }

  private struct Session: LinkSession {
    var overhead: Int { 2 }
    var isWornOut: Bool { false }

    mutating func seal(_ content: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
      guard content.count < 0x8000 else { throw .malformed }
      var frame: [UInt8] = []
      frame.reserveCapacity(content.count + 2)
      frame.append(UInt8(truncatingIfNeeded: content.count >> 8))
      frame.append(UInt8(truncatingIfNeeded: content.count))
      frame.append(contentsOf: content)
      return frame
    }

    mutating func open(_ frame: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
      guard frame.count >= 2, Int(frame[0]) << 8 | Int(frame[1]) == frame.count - 2 else { throw .frameRefused }
      return Array(frame.dropFirst(2))
    }
  }
}
