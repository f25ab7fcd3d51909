package import Streams

/// How many links a controller holds: no interface says it, so it is learned. Starts low, rises by one after calm in
/// which it held us back, falls when the controller says so or when two dials in a row fail that would have been the last
/// allowed, though the peers were just heard. Pure.
package struct LinkCeiling: Sendable, Equatable {
  package private(set) var links: Int
  private var mayRiseAt: MonotonicTime
  private var failuresAtCeiling = 0

  /// What is kept of it for an adapter: a version and the number, one byte each.
  package var kept: [UInt8] { [Self.version, UInt8(clamping: links)] }

  private static let version: UInt8 = 1

  /// What was kept. Nil for anything else; a number beyond the bounds counts as the nearest within.
  package init?(kept: [UInt8], now: MonotonicTime) {
    guard kept.count == 2, kept[0] == Self.version else { return nil }
    self.init(links: Int(kept[1]), now: now)
  }

  /// - Parameter links: what was learned before, of this adapter.
  package init(links: Int = BlueZLimits.firstCeiling, now: MonotonicTime) {
    self.links = min(max(links, BlueZLimits.fewestLinks), BlueZLimits.mostLinks)
    mayRiseAt = now.advanced(by: BlueZLimits.ceilingRise)
  }

  /// Whether we may dial with so many links open: two stay free for those who dial us.
  package func mayDial(open: Int) -> Bool { open < max(1, links - BlueZLimits.reservedForInbound) }

  /// A link came up. - Returns: whether the ceiling has changed.
  package mutating func opened(open: Int) -> Bool {
    failuresAtCeiling = 0
    guard open > links, open <= BlueZLimits.mostLinks else { return false }
    links = open
    return true
  }

  /// A dial of a peer that was just heard has failed.
  ///
  /// - Parameter open: links that were open when it began.
  package mutating func failed(open: Int, isLimit: Bool, now: MonotonicTime) -> Bool {
    if !isLimit {
      guard open >= max(1, links - BlueZLimits.reservedForInbound - 1) else { return false }
      failuresAtCeiling += 1
      guard failuresAtCeiling >= 2 else { return false }
    }
    failuresAtCeiling = 0
    mayRiseAt = now.advanced(by: BlueZLimits.ceilingHold)
    let lower = max(BlueZLimits.fewestLinks, min(links - 1, max(open, BlueZLimits.fewestLinks)))
    defer { links = lower }
    return lower != links
  }

  /// Time has passed. - Returns: whether the ceiling has changed.
  package mutating func tick(open: Int, now: MonotonicTime) -> Bool {
    // Room that nobody asks for proves nothing.
    guard now >= mayRiseAt, links < BlueZLimits.mostLinks, !mayDial(open: open) else { return false }
    links += 1
    mayRiseAt = now.advanced(by: BlueZLimits.ceilingRise)
    return true
  }
}
