/// How far a node is on the way from the plain store to the sealed one, and what it does next: every decision of the
/// migration, and nothing that touches a file.
///
/// `plain → doubleWrite → verify → copyAll → sealed`. The way back to `plain` is open until the plain store is deleted,
/// which is after `sealed` was recorded.
package struct Migration: Equatable, Sendable {
  package enum Phase: UInt8, CaseIterable, Comparable, Sendable {
    /// The plain store alone counts.
    case plain = 0
    /// What is written goes to both; what is read comes from the sealed store, else from the plain one and is copied.
    case doubleWrite = 1
    /// What is read is read from both and compared.
    case verify = 2
    /// As before, while the rest is copied and all is compared.
    case copyAll = 3
    /// The sealed store alone counts; there is no other.
    case sealed = 4

    package static func < (one: Phase, other: Phase) -> Bool { one.rawValue < other.rawValue }
  }

  /// What goes wrong with a sealed store beside a plain one.
  package enum Trouble: UInt8, CaseIterable, Sendable {
    /// The data key could not be had.
    case keyFetch = 0
    /// The sealed store or a value of it did not open.
    case open = 1
    /// A value could not be sealed.
    case seal = 2
    /// A sealed value could not be written.
    case write = 3
    /// The stores differ.
    case mismatch = 4
  }

  /// How often something happened, and when; milliseconds since 1970 on the clock that was handed in.
  package struct Occurrences: Equatable, Sendable {
    package var count: UInt64 = 0
    package var first: UInt64 = 0
    package var last: UInt64 = 0
  }

  /// What has to be shown before a phase ends by itself: so many days and restarts without any trouble.
  package struct Settings: Equatable, Sendable {
    package var days: Int
    package var restarts: Int
    /// Whether the first step is taken without being asked for.
    package var beginsByItself: Bool

    package init(days: Int = 7, restarts: Int = 3, beginsByItself: Bool = true) {
      self.days = days
      self.restarts = restarts
      self.beginsByItself = beginsByItself
    }
  }

  /// What holds a phase up.
  package enum Missing: Equatable, Sendable {
    /// The sealed store is not open.
    case sealedStore
    /// So many names differ between the stores and are not settled.
    case mismatches(Int)
    /// The sealed store does not have what is right for so many names.
    case names(Int)
    /// The plain store holds more names than the sealed one takes.
    case room(Int)
    /// Time without trouble.
    case milliseconds(UInt64)
    /// Restarts without trouble.
    case restarts(Int)
    /// It is not begun, or was taken back, and begins when asked for.
    case word
  }

  package struct Facts: Equatable, Sendable {
    package var now: UInt64
    package var isSealedOpen: Bool
    package var openMismatches: Int
    package var markedNames: Int

    package init(now: UInt64, isSealedOpen: Bool, openMismatches: Int, markedNames: Int) {
      self.now = now
      self.isSealedOpen = isSealedOpen
      self.openMismatches = openMismatches
      self.markedNames = markedNames
    }
  }

  package enum Step: Equatable, Sendable {
    case stay([Missing])
    /// Empty the sealed store and begin to write to both.
    case begin
    case enter(Phase)
    /// Copy the rest, compare all, and when all is equal seal and delete the plain store.
    case finish
  }

  static let millisecondsOfDay: UInt64 = 86_400_000

  package internal(set) var phase = Phase.plain
  /// When the phase began, or the last trouble in it was.
  package internal(set) var since: UInt64
  /// Restarts since then.
  package internal(set) var restarts: UInt32 = 0
  /// It was taken back and begins only when asked for.
  package internal(set) var isHeld = false
  /// It was asked for since the start; not kept.
  private var isAsked = false
  /// The sealed store may say `sealed` already: without it nothing is written.
  package internal(set) var isSealing = false
  /// Generation of the sealed store up to which marks were taken away: an older copy of it is not believed.
  package internal(set) var confirmed: UInt64 = 0
  package internal(set) var occurrences = [Occurrences](repeating: Occurrences(), count: Trouble.allCases.count)

  package init(now: UInt64) { since = now }

  package func occurrences(of trouble: Trouble) -> Occurrences { occurrences[Int(trouble.rawValue)] }

  // MARK: - The way

  /// The process has started again.
  package mutating func restarted(now: UInt64) {
    if restarts < .max { restarts += 1 }
    // A clock that was set back: time that was not lived through counts for nothing.
    since = min(since, now)
  }

  /// Counts it, and begins the proof anew.
  package mutating func troubled(_ trouble: Trouble, now: UInt64) {
    let place = Int(trouble.rawValue)
    if occurrences[place].count == 0 { occurrences[place].first = now }
    if occurrences[place].count < .max { occurrences[place].count += 1 }
    occurrences[place].last = now
    since = now
    restarts = 0
  }

  package mutating func enter(_ phase: Phase, now: UInt64) {
    self.phase = phase
    since = now
    restarts = 0
    isSealing = false
    isHeld = false
    isAsked = false
  }

  /// The plain store alone counts again, until somebody asks for more.
  package mutating func rollBack(now: UInt64) {
    enter(.plain, now: now)
    isHeld = true
  }

  /// Somebody asked for it: what was taken back may begin again.
  package mutating func release() {
    if phase == .plain { isAsked = true }
  }

  /// What is done now. `isImpatient` waits for no proof, and still for everything that would lose a value.
  package func next(_ settings: Settings, _ facts: Facts, isImpatient: Bool) -> Step {
    guard phase != .sealed else { return .stay([]) }
    let missing = self.missing(settings, facts, isImpatient: isImpatient)
    guard missing.isEmpty else { return .stay(missing) }
    return switch phase {
    case .plain: .begin
    case .doubleWrite: .enter(.verify)
    case .verify: .enter(.copyAll)
    case .copyAll, .sealed: .finish
    }
  }

  /// Everything that holds the phase up.
  package func missing(_ settings: Settings, _ facts: Facts, isImpatient: Bool = false) -> [Missing] {
    var missing: [Missing] = []
    if phase == .sealed { return missing }
    if phase == .plain {
      if !isImpatient, !isAsked, isHeld || !settings.beginsByItself { missing.append(.word) }
      return missing
    }
    if !facts.isSealedOpen { missing.append(.sealedStore) }
    if facts.openMismatches > 0 { missing.append(.mismatches(facts.openMismatches)) }
    if facts.markedNames > 0 { missing.append(.names(facts.markedNames)) }
    if isImpatient || phase == .copyAll { return missing }
    let needed = UInt64(clamping: settings.days).multipliedReportingOverflow(by: Self.millisecondsOfDay)
    let lived = facts.now > since ? facts.now - since : 0
    let wanted = needed.overflow ? .max : needed.partialValue
    if lived < wanted { missing.append(.milliseconds(wanted - lived)) }
    if Int(restarts) < settings.restarts { missing.append(.restarts(settings.restarts - Int(restarts))) }
    return missing
  }

  // MARK: - Reading

  package enum Reading: Equatable, Sendable {
    case plainOnly, sealedFirst, bothAndCompare, sealedOnly
  }

  /// Where a name is read.
  ///
  /// - Parameter isMarked: whether the plain value is known to be the right one.
  package func reading(isMarked: Bool, isSealedOpen: Bool) -> Reading {
    switch phase {
    case .sealed: .sealedOnly
    case .plain: .plainOnly
    case .doubleWrite: isMarked || !isSealedOpen ? .plainOnly : .sealedFirst
    case .verify, .copyAll: isMarked || !isSealedOpen ? .plainOnly : .bothAndCompare
    }
  }

  package enum Comparison: Equatable, Sendable {
    case same
    /// The sealed store has never had it.
    case copy
    case mismatch
  }

  package static func compare(plain: [UInt8]?, sealed: SealedReading) -> Comparison {
    switch (plain, sealed) {
    case (nil, .unknown), (nil, .removed): .same
    case (.some, .unknown): .copy
    case (let plain?, .value(let sealed)): plain == sealed ? .same : .mismatch
    case (nil, .value), (.some, .removed): .mismatch
    }
  }
}
