internal import Streams

/// What was sent, in the order in which it left, to tell what was overtaken. At most `LinksLimits.sentInOrder`: the oldest
/// is forgotten, and has then just no short deadline.
struct SendOrder: Sendable {
  struct Entry: Sendable {
    var key: UInt64
    var sentAt: MonotonicTime
  }

  private var entries: [Entry] = []
  private var head = 0

  var first: Entry? { head < entries.count ? entries[head] : nil }
  var count: Int { entries.count - head }

  mutating func append(_ entry: Entry) {
    entries.append(entry)
    if count > LinksLimits.sentInOrder { removeFirst() }
  }

  mutating func removeFirst() {
    guard head < entries.count else { return }
    head += 1
    if head == entries.count {
      entries.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 256, head * 2 >= entries.count {
      entries.removeFirst(head)
      head = 0
    }
  }
}
