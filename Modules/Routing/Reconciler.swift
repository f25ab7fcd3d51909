package import Streams
package import WireFormat

/// Compares, with one neighbour after the other, what both keep for those still to come, and finds what either lacks.
///
/// Of two neighbours one leads, and the other does when nothing of it is heard: it may not know yet that we know comparisons. It tells what three windows of time hold, 43 bytes; the other answers which of them
/// differ, mostly none. Of a window that differs the leader asks for coded symbols until they show what is missing on
/// either side, whatever it is: some 18 bytes for each packet that only one has. What the leader lacks it asks for; what the
/// other lacks is sent. The symbols of one window are all made of the set as it was when the first of them were asked for: what comes meanwhile
/// would be in some of them and not in others. A few neighbours at a time can make a node hold that.
///
/// After a comparison that found nothing the next one is twice as late, up to a minute; after one that did it is soon. Everything
/// that is lost is asked for again, and given up until the next round. Pure.
package struct Reconciler: Sendable {
  package enum Action: Sendable, Hashable {
    case send(ReconciliationFrame, slot: Int)
    /// The neighbour lacks these, or asks for them.
    case push([UInt64], slot: Int, isAsked: Bool)
    case count(RelayCount, UInt64)
  }

  struct Neighbour: Sendable {
    var isLeading: Bool
    var interval = RoutingLimits.firstComparison
    var nextAt: MonotonicTime
    /// What was told and is not answered yet.
    var told: (windows: [ReconciliationFrame.Window], again: Int)?
    /// Symbols that it may still ask for, and since when.
    var allowance = RoutingLimits.symbolsAtOnce
    var allowanceAt: MonotonicTime
  }

  /// What is being found out, with one neighbour at a time.
  struct Session: Sendable {
    var slot: Int
    var number: UInt16
    var salt: UInt64
    /// Windows still to do, the last one first.
    var windows: [(start: UInt32, end: UInt32)]
    var decoder: SymbolDecoder
    var askedTo = 0
    var askAgainAt: MonotonicTime
    var again = 0
    var hasFound = false
  }

  /// What a neighbour is being told of a window, and until when it is kept.
  struct Answering: Sendable {
    var salt: UInt64
    var number: UInt16
    var encoder: SymbolEncoder
    var until: MonotonicTime
  }

  private var leading = LinkSet.none
  var neighbours: [Int: Neighbour] = [:]
  var answers: [Int: Answering] = [:]
  var session: Session?
  var numbers: UInt16 = 0
  /// When `tick` has something to do. Kept, because the relay asks for it after every packet.
  package private(set) var deadline = MonotonicTime.never
  private let hash: KeyedHash

  /// - Parameter key: 128 random bits of this process; salts are made of it.
  package init(key: (UInt64, UInt64)) { hash = KeyedHash(key0: key.0 ^ 0x5A17, key1: key.1) }

  // MARK: Neighbours

  /// Who leads on the link in this slot: told before it is up, true at one end and false at the other.
  package mutating func setLeading(_ slot: Int, _ isLeading: Bool) {
    if isLeading { leading.insert(slot) } else { leading.remove(slot) }
  }

  /// The neighbour is there, and knows comparisons.
  package mutating func up(_ slot: Int, now: MonotonicTime) {
    defer { setDeadline() }
    let isLeading = leading.contains(slot)
    let first = isLeading ? now : now.advanced(by: spread(RoutingLimits.leaderPatience))
    neighbours[slot] = Neighbour(isLeading: isLeading, nextAt: first, allowanceAt: now)
  }

  package func isUp(_ slot: Int) -> Bool { neighbours[slot] != nil }

  package mutating func down(_ slot: Int) {
    defer { setDeadline() }
    neighbours[slot] = nil
    answers[slot] = nil
    if session?.slot == slot { session = nil }
  }

  // MARK: Time

  mutating func setDeadline() {
    deadline = session?.askAgainAt ?? .never
    for neighbour in neighbours.values { deadline = min(deadline, neighbour.nextAt) }
    for answer in answers.values { deadline = min(deadline, answer.until) }
  }

  /// - Parameter wallMilliseconds: the time of day; it only says where windows begin, so a wrong one costs a few bytes.
  package mutating func tick(
    _ set: PacketSet, now: MonotonicTime, wallMilliseconds: UInt64, into actions: inout [Action]
  ) {
    defer { setDeadline() }
    if let due = session?.askAgainAt, due <= now { askAgain(now: now, into: &actions) }
    if !answers.isEmpty { answers = answers.filter { $0.value.until > now } }
    for slot in neighbours.keys.sorted() where neighbours[slot]!.nextAt <= now {
      guard session?.slot != slot else {
        neighbours[slot]!.nextAt = now.advanced(by: RoutingLimits.comparisonAnswer)
        continue
      }
      if let told = neighbours[slot]!.told, told.again >= RoutingLimits.comparisonRepeats {
        // It knows nothing of this, or is too busy.
        neighbours[slot]!.told = nil
        settle(slot, hasFound: false, now: now)
        actions.append(.count(.comparisonsUnanswered, 1))
        continue
      }
      let windows = Self.windows(of: set, wallMilliseconds: wallMilliseconds)
      neighbours[slot]!.told = (windows, (neighbours[slot]!.told?.again ?? -1) + 1)
      neighbours[slot]!.nextAt = now.advanced(by: RoutingLimits.comparisonAnswer)
      actions.append(.send(.comparison(windows), slot: slot))
    }
  }

  /// Ten minutes, an hour, and everything before, newest first.
  static func windows(of set: PacketSet, wallMilliseconds: UInt64) -> [ReconciliationFrame.Window] {
    let unit = PacketSet.unit(wallMilliseconds)
    var windows: [ReconciliationFrame.Window] = []
    var end = UInt32.max
    for back in [1, 6, UInt32.max] as [UInt32] {
      let start = unit > back ? unit - back : 0
      guard start < end else { break }
      windows.append(set.window(from: start, to: end))
      end = start
    }
    return windows
  }

  /// The round with this neighbour is over.
  mutating func settle(_ slot: Int, hasFound: Bool, now: MonotonicTime) {
    guard neighbours[slot] != nil else { return }
    let interval =
      hasFound ? RoutingLimits.firstComparison : min(neighbours[slot]!.interval * 2, RoutingLimits.lastComparison)
    neighbours[slot]!.interval = interval
    neighbours[slot]!.nextAt = now.advanced(by: spread(hasFound ? RoutingLimits.comparisonAfterFinding : interval))
  }

  /// A time between three quarters of the given one and all of it, so that links do not beat together.
  private mutating func spread(_ interval: Duration) -> Duration {
    numbers &+= 1
    let share = Double(hash(UInt64(numbers)) >> 11) / 0x1p53
    return interval * (0.75 + 0.25 * share)
  }

  mutating func newSalt(_ now: MonotonicTime) -> (number: UInt16, salt: UInt64) {
    numbers &+= 1
    return (numbers, hash(now.nanoseconds &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(numbers)))
  }
}
