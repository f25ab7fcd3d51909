/// What happens at a moment of virtual time: 24 bytes, no closure.
struct Event: Sendable {
  enum Kind: UInt8 {
    /// A connection event of link `a`.
    case anchor
    /// Frame `a` has arrived at link end `b`.
    case arrival
    /// Something of the transfer at link end `a` is due.
    case transferDue
    /// Something of the rules of node `a` is due.
    case rulesDue
    /// Pieces that wait at node `a` are to be asked for, or given up.
    case reassemblyDue
    /// Message `a` is said.
    case message
    /// Link `a` comes up, goes down.
    case linkUp, linkDown
    /// Everything that moves takes a step.
    case world
    /// Step `a` of the script of the scenario.
    case script
    /// The hostile node `a` acts.
    case hostile
    /// The session of its origin has the answer to message `a`.
    case answered
  }

  /// Nanoseconds since the start.
  var time: UInt64
  /// Events of one moment happen in the order in which they were made.
  private let order: UInt64
  var a: Int32
  var b: Int32

  init(time: UInt64, sequence: UInt64, kind: Kind, a: Int32, b: Int32) {
    self.time = time
    order = sequence << 8 | UInt64(kind.rawValue)
    self.a = a
    self.b = b
  }

  var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: order)) ?? .anchor }

  @inline(__always)
  static func < (left: Event, right: Event) -> Bool {
    left.time != right.time ? left.time < right.time : left.order < right.order
  }
}

/// The events to come, earliest first: a heap of four children, of which each step down reads one or two cache lines.
struct EventQueue: Sendable {
  private var events: [Event] = []
  private var sequence: UInt64 = 0

  var count: Int { events.count }

  @inline(__always)
  mutating func add(_ kind: Event.Kind, at time: UInt64, _ a: Int, _ b: Int = 0) {
    let event = Event(
      time: time, sequence: sequence, kind: kind, a: Int32(truncatingIfNeeded: a), b: Int32(truncatingIfNeeded: b))
    sequence &+= 1
    var place = events.count
    events.append(event)
    while place > 0 {
      let parent = (place &- 1) >> 2
      guard event < events[parent] else { break }
      events[place] = events[parent]
      place = parent
    }
    events[place] = event
  }

  @inline(__always)
  mutating func popFirst() -> Event? {
    guard let first = events.first else { return nil }
    let last = events.removeLast()
    let count = events.count
    guard count > 0 else { return first }
    var place = 0
    while true {
      let child = place &* 4 &+ 1
      guard child < count else { break }
      var least = child
      var other = child &+ 1
      let end = min(child &+ 4, count)
      while other < end {
        if events[other] < events[least] { least = other }
        other &+= 1
      }
      guard events[least] < last else { break }
      events[place] = events[least]
      place = least
    }
    events[place] = last
    return first
  }
}
