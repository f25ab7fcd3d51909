package import Identities
package import Streams
internal import Verifying

/// What we know of a card beside its bytes.
package struct CardEvidence: Sendable, Equatable {
  /// When it came.
  package var receivedAt: MonotonicTime
  /// Milliseconds since it was issued, counted on the way; of a live card only that it is the newest.
  package var age: UInt64
  /// The peer itself gave it over a link: it is the newest there is.
  package var isLive: Bool

  package init(receivedAt: MonotonicTime, age: UInt64, isLive: Bool) {
    self.receivedAt = receivedAt
    self.age = age
    self.isLive = isLive
  }
}

/// How long something may still be sealed to the prekey of a card.
///
/// `sealUntil` is by the clock of the peer, and neither its clock nor ours needs to be right. So, in this order:
///
/// * a peer that gave its card over a link has a prekey not older than a day, because it makes a new one every day: from
///   then on the rest of the time is counted here;
/// * where our clock is known to be right and the card was issued between the first release and now, the two times in it
///   are compared with our clock, and an old card that is played again is worth nothing;
/// * else, one of the clocks is wrong, and the age is counted: what the card was old when it was sent on its way, what it
///   took on the way, and the time since. A card that is only known from before the start says nothing then, unless it
///   is our own clock that may be wrong: the best we know is what it says.
///
/// Pure.
package enum PrekeyTerm {
  /// Milliseconds left; 0 when nothing may be sealed to it any more.
  package static func left(
    of card: Card, evidence: CardEvidence?, now: MonotonicTime, wall: UInt64, isSynchronised: Bool
  ) -> UInt64 {
    let whole = minus(card.prekey.sealUntil, card.issued)
    if let evidence, evidence.isLive {
      let least = min(whole, minus(IdentitiesLimits.prekeySealing, IdentitiesLimits.prekeyInterval))
      let counted = minus(least, now.milliseconds(since: evidence.receivedAt))
      if counted > 0 { return counted }
    }
    let isIssuedInTime =
      card.issued >= SessionsLimits.firstRelease
      && card.issued <= wall.addingReportingOverflow(SessionsLimits.clockTolerance).partialValue
    if isSynchronised, isIssuedInTime { return minus(card.prekey.sealUntil, wall) }
    if let evidence, !evidence.isLive {
      return minus(minus(whole, evidence.age), now.milliseconds(since: evidence.receivedAt))
    }
    return isIssuedInTime ? minus(card.prekey.sealUntil, wall) : 0
  }

  /// Milliseconds that a packet to this prekey is of use: until the private half is erased, and not longer than its kind.
  package static func packetLifetime(sealingLeft: UInt64, kindLifetime: UInt64) -> UInt64 {
    let erasure = minus(IdentitiesLimits.prekeyRetention, IdentitiesLimits.prekeySealing)
    return min(kindLifetime, sealingLeft.addingReportingOverflow(erasure).partialValue)
  }

  private static func minus(_ one: UInt64, _ other: UInt64) -> UInt64 { one > other ? one - other : 0 }
}

/// A prekey that is sealed to is within its time.
enum PrekeyFresh: Verification {
  static let name = "prekey-fresh"
}
