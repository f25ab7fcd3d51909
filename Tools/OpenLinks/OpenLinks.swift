internal import Bytes
package import Identities
package import Links
package import Streams

/// What links without a seal would be: cards and frames as they are. Nothing of it is shipped; it shows that a tap which
/// hears nothing on a sealed link is not deaf.
package struct OpenLinks: LinkSecurity {
  private let ownCard: Latest<VerifiedCard>

  package init(ownCard: Latest<VerifiedCard>) { self.ownCard = ownCard }

  package func handshake(role: HandshakeRole, hellos: [UInt8]) throws(LinkSecurityError) -> any LinkHandshake {
    Handshake(ownCard.value)
  }

  private final class Handshake: LinkHandshake {
    private let card: VerifiedCard

    init(_ card: VerifiedCard) { self.card = card }

    func start() async throws(LinkSecurityError) -> HandshakeProgress { HandshakeProgress(messages: [card.encoded]) }

    func receive(_ message: [UInt8]) async throws(LinkSecurityError) -> HandshakeProgress {
      guard let card = try? VerifiedCard(verifying: message.rawSpan) else { throw .cardRefused }
      return HandshakeProgress(established: EstablishedLink(card: card, session: Session()))
    }
  }

  private final class Session: LinkSession {
    var overhead: Int { 2 }
    var isWornOut: Bool { false }
    func tick(now: MonotonicTime) {}
    func seal(_ content: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
      [UInt8(content.count >> 8), UInt8(truncatingIfNeeded: content.count)] + content
    }
    func open(_ frame: [UInt8]) throws(LinkSecurityError) -> [UInt8] { Array(frame.dropFirst(2)) }
  }
}
