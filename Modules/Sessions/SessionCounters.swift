internal import Telemetry

/// What the session counts, by reason.
package enum SessionCount: String, CounterReason {
  case messagesSent, messagesReceived
  /// The same message in another packet.
  case messagesRepeated
  case cardsKept, cardsKnown
  /// A card packet whose card does not verify, or is not its origin's.
  case cardsRefused
  case cardsEquivocated
  /// The signature is not the author's.
  case signatureRefused
  /// Signed, and still not a message.
  case malformed
  case heldForCard
  /// Held too long, or pushed out by others.
  case heldDropped
  case pingsAnswered, pingsRefused, pongsUnasked
  case presenceHeard
  /// The store did not take what should have been kept.
  case storeFailed
}
