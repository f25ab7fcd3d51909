package import Streams

/// What one authenticated neighbour may ask of us: frames and bytes a second, with a burst.
///
/// It hangs on the link and not on a claimed origin, because the link is what was proved. Frames over the budget are
/// dropped before anything looks into them; an honest neighbour sends what was in them again, more slowly. Pure.
package struct LinkBudget: Sendable {
  private let framesPerSecond: Double
  private let bytesPerSecond: Double
  private var frames: Double
  private var bytes: Double
  private var refilledAt: MonotonicTime

  /// - Parameter bytesPerSecond: what the transport says a link carries; twice that is the budget, because an honest
  ///   neighbour cannot send more than the radio takes.
  package init(bytesPerSecond rate: Int, now: MonotonicTime) {
    bytesPerSecond = Double(max(rate, LinksLimits.smallestRate)) * LinksLimits.budgetShare
    framesPerSecond = bytesPerSecond / Double(LinksLimits.smallestPaidFrame)
    frames = framesPerSecond * LinksLimits.budgetBurstSeconds
    bytes = bytesPerSecond * LinksLimits.budgetBurstSeconds
    refilledAt = now
  }

  /// Pays for a frame of this many bytes.
  ///
  /// - Returns: false when the neighbour is over its budget; nothing is paid then.
  package mutating func pay(byteCount: Int, now: MonotonicTime) -> Bool {
    if now > refilledAt {
      let seconds = Double(now.nanoseconds - refilledAt.nanoseconds) / 1e9
      frames = min(framesPerSecond * LinksLimits.budgetBurstSeconds, frames + framesPerSecond * seconds)
      bytes = min(bytesPerSecond * LinksLimits.budgetBurstSeconds, bytes + bytesPerSecond * seconds)
      refilledAt = now
    }
    guard frames >= 1, bytes >= Double(byteCount) else { return false }
    frames -= 1
    bytes -= Double(byteCount)
    return true
  }
}
