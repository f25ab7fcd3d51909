package import Streams

/// Whose turn it is to be dialled: one at a time, because a controller that dials neither advertises nor listens.
///
/// Two nodes that hear each other would dial at once and go deaf for each other: the one with the smaller hint dials,
/// the other gives it time and dials only if no link has come. Where a hint is not known, as of a device that BlueZ
/// remembers over its restart, the smaller address dials, and the other gives it less time, because the peer may go by
/// the hints. Pure.
package struct DialQueue: Sendable {
  package struct Dial: Sendable, Hashable {
    package var number: UInt64
    package var address: String
    /// From when on it may go.
    package var notBefore: MonotonicTime
  }

  private var waiting: [Dial] = []
  package private(set) var current: Dial?
  private var lastNumber: UInt64 = 0

  package init() {}

  package var count: Int { waiting.count + (current == nil ? 0 : 1) }

  /// - Parameters:
  ///   - ownAddress: of the adapter.
  ///   - ownHint, peerHint: of the advertisements.
  ///   - spread: between 0 and 1.
  /// - Returns: the number of the dial, or nil when too many wait.
  package mutating func add(
    _ address: String, ownAddress: String, ownHint: UInt32?, peerHint: UInt32?, spread: Double, now: MonotonicTime
  ) -> UInt64? {
    guard waiting.count < BlueZLimits.waitingDials else { return nil }
    lastNumber += 1
    var notBefore = now
    if let ownHint, let peerHint {
      if peerHint < ownHint {
        notBefore = now.advanced(by: BlueZLimits.yieldTime + BlueZLimits.yieldJitter * spread)
      }
    } else if address < ownAddress {
      notBefore = now.advanced(by: BlueZLimits.shortYieldTime + BlueZLimits.yieldJitter * spread)
    }
    waiting.append(Dial(number: lastNumber, address: address, notBefore: notBefore))
    return lastNumber
  }

  /// Takes the next dial whose time has come, when none is under way.
  package mutating func next(now: MonotonicTime) -> Dial? {
    guard current == nil, let index = waiting.firstIndex(where: { $0.notBefore <= now }) else { return nil }
    current = waiting.remove(at: index)
    return current
  }

  /// A dial is over, whether it waited or was under way. - Returns: whether it was there.
  package mutating func remove(_ number: UInt64) -> Bool {
    if current?.number == number {
      current = nil
      return true
    }
    let count = waiting.count
    waiting.removeAll { $0.number == number }
    return waiting.count < count
  }

  /// The dials of an address: a link to it has come from the other side.
  package func numbers(of address: String) -> [UInt64] {
    ((current.map { [$0] } ?? []) + waiting).filter { $0.address == address }.map(\.number)
  }

  package var numbers: [UInt64] { ((current.map { [$0] } ?? []) + waiting).map(\.number) }

  /// Whether a dial may begin now, or from when on.
  package func deadline(now: MonotonicTime) -> MonotonicTime? {
    guard current == nil else { return nil }
    return waiting.map(\.notBefore).min()
  }
}
