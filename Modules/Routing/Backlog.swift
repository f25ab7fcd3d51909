/// What neighbours that came later still miss, handed out little by little so that old news never fill a queue that
/// new ones need.
///
/// Per slot a list of keys and the few of them that are under way; an acknowledgement makes room for the next. Pure.
package struct Backlog: Sendable {
  private struct Waiting: Sendable {
    var keys: [UInt64]
    var next = 0
    var underWay: Set<UInt64> = []
  }

  /// Packets of the backlog of one neighbour that are under way at a time.
  package static let ahead = 32

  private var slots: [Int: Waiting] = [:]

  package init() {}

  /// A neighbour misses these, oldest first.
  ///
  /// - Returns: what to send now.
  package mutating func start(_ slot: Int, keys: [UInt64]) -> [UInt64] {
    guard !keys.isEmpty else {
      slots[slot] = nil
      return []
    }
    slots[slot] = Waiting(keys: keys)
    return advance(slot)
  }

  /// It misses these too.
  ///
  /// - Returns: what to send now.
  package mutating func add(_ slot: Int, keys: [UInt64]) -> [UInt64] {
    guard var waiting = slots[slot] else { return start(slot, keys: keys) }
    let known = Set(waiting.keys[waiting.next...]).union(waiting.underWay)
    waiting.keys.removeFirst(waiting.next)
    waiting.next = 0
    waiting.keys += keys.filter { !known.contains($0) }
    slots[slot] = waiting
    return advance(slot)
  }

  /// - Returns: what to send next.
  package mutating func acknowledged(_ slot: Int, keys: [UInt64]) -> [UInt64] {
    guard slots[slot] != nil else { return [] }
    for key in keys { slots[slot]?.underWay.remove(key) }
    return advance(slot)
  }

  package mutating func stop(_ slot: Int) { slots[slot] = nil }

  private mutating func advance(_ slot: Int) -> [UInt64] {
    guard var waiting = slots[slot] else { return [] }
    var chosen: [UInt64] = []
    while waiting.next < waiting.keys.count, waiting.underWay.count < Self.ahead {
      let key = waiting.keys[waiting.next]
      waiting.next += 1
      waiting.underWay.insert(key)
      chosen.append(key)
    }
    slots[slot] = waiting.next == waiting.keys.count && waiting.underWay.isEmpty ? nil : waiting
    return chosen
  }
}
