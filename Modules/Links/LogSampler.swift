package import Streams

/// Keeps what strangers can cause at will from filling a log: the first is said, and then once in
/// `LinksLimits.logInterval` with how many there were since. Pure.
package struct LogSampler: Sendable {
  private var quietUntil = MonotonicTime.start
  private var unsaid: UInt64 = 0

  package init() {}

  /// It has happened.
  ///
  /// - Returns: how many were kept back before this one, when it is to be said; nil when it is kept back too.
  package mutating func happened(now: MonotonicTime) -> UInt64? {
    guard now >= quietUntil else {
      unsaid += 1
      return nil
    }
    quietUntil = now.advanced(by: LinksLimits.logInterval)
    defer { unsaid = 0 }
    return unsaid
  }
}
