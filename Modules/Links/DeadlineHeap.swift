internal import Streams

/// Deadlines of packets, earliest first: a binary heap with lazy removal.
///
/// An entry whose packet has gone, or has a newer deadline, is skipped by its owner when it comes up.
struct DeadlineHeap: Sendable {
  struct Entry: Sendable {
    var deadline: MonotonicTime
    var key: UInt64
  }

  private var entries: [Entry] = []

  var first: Entry? { entries.first }
  var count: Int { entries.count }

  mutating func insert(_ deadline: MonotonicTime, key: UInt64) {
    entries.append(Entry(deadline: deadline, key: key))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].deadline < entries[parent].deadline else { break }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  mutating func popFirst() -> Entry? {
    guard let first = entries.first else { return nil }
    let last = entries.removeLast()
    guard !entries.isEmpty else { return first }
    entries[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < entries.count {
        if entries[child].deadline < entries[least].deadline { least = child }
      }
      if least == parent { break }
      entries.swapAt(least, parent)
      parent = least
    }
    return first
  }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }
}
