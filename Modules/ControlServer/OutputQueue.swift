/// What waits to be written to one client: answers, which must all arrive, and events, of which the oldest go when the
/// client reads too slowly.
struct OutputQueue {
  private var answers = LineQueue()
  private var events = LineQueue()
  private var missed: UInt64 = 0
  /// The bytes that are being written.
  private var current: [UInt8] = []
  private var written = 0
  /// True between the start of a subscription and its answer: events wait for the snapshot.
  var isHoldingEvents = false

  var isEmpty: Bool {
    written == current.count && answers.isEmpty && (isHoldingEvents || (events.isEmpty && missed == 0))
  }

  /// False when the client has too many unread answers. One answer always finds room.
  mutating func append(answer line: [UInt8]) -> Bool {
    guard answers.isEmpty || answers.bytes + line.count <= ControlServerLimits.bytesOfAnswers else { return false }
    answers.append(line)
    return true
  }

  /// Returns how many older events went to make room.
  @discardableResult mutating func append(event line: [UInt8]) -> UInt64 {
    var dropped: UInt64 = 0
    while !events.isEmpty,
      events.count >= ControlServerLimits.waitingEvents
        || events.bytes + line.count > ControlServerLimits.bytesOfEvents
    {
      _ = events.popFirst()
      dropped += 1
    }
    missed &+= dropped
    events.append(line)
    return dropped
  }

  /// Counts events that never got here.
  mutating func miss(_ count: UInt64) { missed &+= count }

  /// The subscription has ended.
  mutating func clearEvents() {
    events = LineQueue()
    missed = 0
  }

  /// The bytes to write next; empty when there is nothing to do. `lagged` makes the line that tells of missing events.
  mutating func next(lagged: (UInt64) -> [UInt8]?) -> ArraySlice<UInt8> {
    if written == current.count {
      current.removeAll(keepingCapacity: current.capacity <= ControlServerLimits.bytesOfTurn)
      written = 0
      while current.count < ControlServerLimits.bytesOfTurn, let line = nextLine(lagged) { current += line }
    }
    return current[written...]
  }

  /// The socket took `count` of the bytes that `next` gave.
  mutating func wrote(_ count: Int) { written = min(written + max(0, count), current.count) }

  private mutating func nextLine(_ lagged: (UInt64) -> [UInt8]?) -> [UInt8]? {
    if let line = answers.popFirst() { return line }
    if isHoldingEvents { return nil }
    if missed > 0 {
      defer { missed = 0 }
      if let line = lagged(missed) { return line }
    }
    return events.popFirst()
  }
}

/// A first-in, first-out queue of lines that knows its bytes.
private struct LineQueue {
  private var lines: [[UInt8]] = []
  private var head = 0
  private(set) var bytes = 0

  var count: Int { lines.count - head }
  var isEmpty: Bool { count == 0 }

  mutating func append(_ line: [UInt8]) {
    lines.append(line)
    bytes += line.count
  }

  mutating func popFirst() -> [UInt8]? {
    guard head < lines.count else { return nil }
    let line = lines[head]
    lines[head] = []
    head += 1
    bytes -= line.count
    if head == lines.count || head >= 512 {
      lines.removeFirst(head)
      head = 0
    }
    return line
  }
}
