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
  /// The seal does not open, or is not of whom it names.
  case sealRefused
  /// Sealed to a prekey that was erased: it came too late.
  case prekeyGone
  /// Messages that waited for a key and went out when it came.
  case waitingSent
  case receiptsSent, receiptsReceived
  /// No card to seal a receipt to.
  case receiptsWithoutKey
  /// Signed or sealed, and still not a message.
  case malformed
  case heldForCard
  /// Held too long, or pushed out by others.
  case heldDropped
  case pingsAnswered, pingsRefused, pongsUnasked
  case presenceHeard
  /// The store did not take what should have been kept.
  case storeFailed
}
