package import WireFormat

/// The keys of packets by the ten minutes they were made in, so that two nodes can compare what they hold without saying it.
///
/// The time is the one that their origins have written into them: right or wrong, it is the same everywhere. As large as what it
/// follows, the store of packets kept for others, and so bounded by that. Pure.
package struct PacketSet: Sendable {
  private struct Span: Sendable {
    var unit: UInt32
    var keys: [UInt64]
    var sum: UInt64
  }

  /// Ascending by unit, none empty.
  private var spans: [Span] = []
  package private(set) var count = 0

  package init() {}

  /// In which unit a packet made at this time, in milliseconds since 1970, is.
  package static func unit(_ milliseconds: UInt64) -> UInt32 {
    UInt32(truncatingIfNeeded: min(milliseconds / WireLimits.windowUnit, UInt64(UInt32.max - 1)))
  }

  /// Adds a key that is not in it.
  package mutating func insert(_ key: UInt64, unit: UInt32) {
    let place = place(of: unit)
    if place == spans.count || spans[place].unit != unit {
      spans.insert(Span(unit: unit, keys: [], sum: 0), at: place)
    }
    spans[place].keys.append(key)
    spans[place].sum &+= key
    count += 1
  }

  package mutating func remove(_ key: UInt64, unit: UInt32) {
    let place = place(of: unit)
    guard place < spans.count, spans[place].unit == unit, let index = spans[place].keys.firstIndex(of: key) else {
      return
    }
    spans[place].keys.swapAt(index, spans[place].keys.count - 1)
    spans[place].keys.removeLast()
    spans[place].sum &-= key
    count -= 1
    if spans[place].keys.isEmpty { spans.remove(at: place) }
  }

  /// What a window holds, as its comparison tells it: units from `start` on, before `end`.
  package func window(from start: UInt32, to end: UInt32) -> ReconciliationFrame.Window {
    var window = ReconciliationFrame.Window(start: start, count: 0, sum: 0)
    for span in spans[place(of: start)...] {
      guard span.unit < end else { break }
      window.count &+= UInt16(truncatingIfNeeded: span.keys.count)
      window.sum &+= span.sum
    }
    return window
  }

  package func keys(from start: UInt32, to end: UInt32) -> [UInt64] {
    var keys: [UInt64] = []
    for span in spans[place(of: start)...] {
      guard span.unit < end else { break }
      keys += span.keys
    }
    return keys
  }

  /// The first span that is not before `unit`.
  private func place(of unit: UInt32) -> Int {
    var (low, high) = (0, spans.count)
    while low < high {
      let middle = (low + high) / 2
      if spans[middle].unit < unit { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
