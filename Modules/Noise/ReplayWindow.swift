/// Which counters have been seen: the newest and the 1,023 before it. One bit each, in a ring (the idea of RFC 6479).
package struct ReplayWindow: Sendable {
  package enum Verdict: Hashable, Sendable {
    case fresh
    /// Seen before.
    case replayed
    /// Before the window: it may have been seen.
    case tooOld
  }

  private static let size = NoiseLimits.replayWindow

  /// Bit c mod 1,024 says whether c was seen, for the counters of the window.
  private var ring = InlineArray<16, UInt64>(repeating: 0)
  /// Highest counter seen, or nothing yet.
  package private(set) var newest: UInt64?

  package init() {}

  /// Asks only.
  package func verdict(on counter: UInt64) -> Verdict {
    guard let newest, counter <= newest else { return .fresh }
    guard newest - counter < Self.size else { return .tooOld }
    return ring[Self.word(counter)] & Self.bit(counter) == 0 ? .fresh : .replayed
  }

  /// Remembers a counter whose verdict is `fresh`; another is left alone.
  package mutating func accept(_ counter: UInt64) {
    guard verdict(on: counter) == .fresh else { return }
    if let newest, counter > newest {
      forget(after: newest, through: counter)
      self.newest = counter
    } else if newest == nil {
      newest = counter
    }
    ring[Self.word(counter)] |= Self.bit(counter)
  }

  /// Clears the bits of counters that come into the window.
  private mutating func forget(after old: UInt64, through new: UInt64) {
    guard new - old < Self.size else {
      ring = InlineArray<16, UInt64>(repeating: 0)
      return
    }
    var next = old + 1
    var left = new - old
    while left > 0 {
      let place = next & 63
      let run = min(left, 64 - place)
      let ones: UInt64 = run == 64 ? .max : (1 &<< run) &- 1
      ring[Self.word(next)] &= ~(ones &<< place)
      next &+= run
      left -= run
    }
  }

  private static func word(_ counter: UInt64) -> Int { Int((counter & (size - 1)) &>> 6) }
  private static func bit(_ counter: UInt64) -> UInt64 { 1 &<< (counter & 63) }

  /// For the tests that hold "a refused message changes nothing".
  var image: [UInt64] { ring.indices.map { ring[$0] } + [newest ?? 0, newest == nil ? 0 : 1] }
}
