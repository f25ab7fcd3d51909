package import Streams

/// How much of the time a node listens. Listening takes airtime from its links, and from whatever else uses the adapter:
/// a lonely node listens all the time, one that has what it needs seldom. Pure.
///
/// A neighbour who is lonely listens all the time too and hears our advertisement, so two who are in range meet however
/// seldom one of them listens.
package struct ScanDuty: Sendable {
  /// How the time is shared: listening for the first part of every period.
  package struct Share: Sendable, Hashable {
    package var listening: Duration
    package var period: Duration
  }

  private var links = 0
  private var isFull = false
  /// Listens without a break until then: what is around has just changed.
  private var fullUntil: MonotonicTime
  private var start: MonotonicTime

  package init(now: MonotonicTime) {
    fullUntil = now
    start = now
  }

  /// Open links, and whether there is room to dial for another.
  package mutating func observe(links: Int, isFull: Bool, now: MonotonicTime) {
    guard links != self.links || isFull != self.isFull else { return }
    (self.links, self.isFull) = (links, isFull)
    start = now
    fullUntil = isFull ? now : now.advanced(by: BlueZLimits.scanAfterChange)
  }

  /// Nil when it listens all the time.
  package func share(now: MonotonicTime) -> Share? {
    guard links > 0, now >= fullUntil else { return nil }
    return isFull ? BlueZLimits.scanWhenFull : BlueZLimits.scanWhenLinked
  }

  package func isListening(now: MonotonicTime) -> Bool {
    guard let share = share(now: now) else { return true }
    return phase(share, now) < share.listening
  }

  /// When `isListening` changes next by itself.
  package func deadline(now: MonotonicTime) -> MonotonicTime? {
    guard links > 0 else { return nil }
    guard let share = share(now: now) else { return fullUntil }
    let phase = phase(share, now)
    return now.advanced(by: (phase < share.listening ? share.listening : share.period) - phase)
  }

  private func phase(_ share: Share, _ now: MonotonicTime) -> Duration {
    let since = now.nanoseconds &- max(start, fullUntil).nanoseconds
    return .nanoseconds(Int64(since % UInt64(share.period / .nanoseconds(1))))
  }
}
