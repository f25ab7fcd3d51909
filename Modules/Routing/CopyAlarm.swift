package import Streams

/// By what a node learns that its identity also runs elsewhere, or did since its state was copied.
package enum CopyEvidence: String, Sendable, CaseIterable {
  /// The peer at the other end of a link has proved our keys.
  case handshake
  /// A card with our signature that is newer than the one we have made last, or another of the same number.
  case card
  /// A public message with our signature that we have never said.
  case message
}

/// Collects the evidence that the identity also runs elsewhere, and says when to say so: the first at once, then once an
/// hour, with how many there were since. Pure.
package struct CopyAlarm: Sendable {
  package private(set) var last: CopyEvidence?
  package private(set) var lastAt = MonotonicTime.start
  package private(set) var count: UInt64 = 0
  private var quietUntil = MonotonicTime.start
  private var unsaid: UInt64 = 0

  package init() {}

  /// - Returns: how many were kept back before this one, when it is to be said; nil when it is kept back too.
  package mutating func met(_ evidence: CopyEvidence, now: MonotonicTime) -> UInt64? {
    (last, lastAt) = (evidence, now)
    count &+= 1
    guard now >= quietUntil else {
      unsaid &+= 1
      return nil
    }
    quietUntil = now.advanced(by: RoutingLimits.copyAlarmInterval)
    defer { unsaid = 0 }
    return unsaid
  }
}
