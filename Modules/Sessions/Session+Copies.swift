internal import Bytes
internal import Identities
internal import Routing
internal import Streams
internal import Telemetry
internal import WireFormat

extension Session {
  /// Looks whether a packet under our own origin, which the relay does not remember as ours, proves that our keys are at
  /// work elsewhere. What does not bear our signature proves nothing, and neither does an old card or a presence: they may
  /// be of a time that nobody remembers. A message to somebody else is sealed and cannot be told from noise.
  func examineOwn(_ packet: Packet) async {
    switch packet.header.kind {
    case .card:
      let own = ports.ownCard.value
      let body = Array(packet.body)
      guard let card = try? VerifiedCard(verifying: body.rawSpan), card.id == ownID,
        card.card.sequence > own.card.sequence
          || card.card.sequence == own.card.sequence && card.encoded != own.encoded
      else { return }
      ports.metCopy(.card)
    case .public, .urgent:
      guard (try? packet.verifySignature(by: ports.ownCard.value.card.signingKey)) != nil,
        let content = try? MessageContent(decoding: Array(packet.body)), case .text = content.substance
      else { return }
      do {
        // What we have said is kept before it is sent.
        guard try await ports.store.message(content.id) == nil else { return }
      } catch {
        counters.count(.storeFailed)
        return
      }
      ports.metCopy(.message)
    default: break
    }
  }
}
