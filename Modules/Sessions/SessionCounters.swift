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
  /// Not the shape of a sealed body.
  case sealMalformed
  /// The seal does not open.
  case sealRefused
  /// The seal names another than the origin of its packet.
  case sealOfAnotherOrigin
  /// The seal proves another key than the card of whom it names has.
  case sealOfAnotherKey
  /// Sealed to a prekey that was erased: it came too late.
  case prekeyGone
  /// Messages that waited for a key and went out when it came.
  case waitingSent
  /// Messages that could go out and did not, because it is not settled who their recipient is, or it is blocked.
  case waitingWithheld
  case receiptsSent, receiptsReceived
  /// A receipt for a message that was for another.
  case receiptsOfAnother
  /// No card to seal a receipt to.
  case receiptsWithoutKey
  /// Whom the receipt was for is blocked, or it is not settled who it is.
  case receiptsWithheld
  /// A packet under our own origin that another has brought.
  case ownOrigin
  /// Its author is blocked; it was on its way to us already.
  case blockedRefused
  /// Contacts that made room for others.
  case contactsEvicted
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
