internal import Database

/// Numbers of messages that cannot be read because pages of the file are damaged, as far as they were met.
package struct ArchiveDamage: Sendable, Equatable {
  /// Rising, not touching each other, at least one.
  private var ranges: [ClosedRange<Int64>]

  init(_ range: ClosedRange<Int64>) { ranges = [range] }

  /// How many; that many messages at most.
  package var numbers: UInt64 {
    ranges.reduce(0) { sum, range in
      let (total, isOver) = sum.addingReportingOverflow(range.upperBound.magnitude - range.lowerBound.magnitude + 1)
      return isOver ? .max : total
    }
  }
  package var first: Int64 { ranges.first?.lowerBound ?? 0 }
  package var last: Int64 { ranges.last?.upperBound ?? 0 }

  /// What several walks meet counts once. Above `ArchiveLimits.damagedRanges` the last two become one with what is
  /// between them.
  mutating func insert(_ range: ClosedRange<Int64>) {
    var joined = range
    var rest: [ClosedRange<Int64>] = []
    for other in ranges {
      let isApart =
        (other.upperBound < joined.lowerBound && other.upperBound + 1 < joined.lowerBound)
        || (joined.upperBound < other.lowerBound && joined.upperBound + 1 < other.lowerBound)
      if isApart {
        rest.append(other)
      } else {
        joined = min(joined.lowerBound, other.lowerBound)...max(joined.upperBound, other.upperBound)
      }
    }
    rest.insert(joined, at: rest.firstIndex { $0.lowerBound > joined.lowerBound } ?? rest.count)
    if rest.count > ArchiveLimits.damagedRanges {
      let last = rest.removeLast()
      rest[rest.count - 1] = rest[rest.count - 1].lowerBound...last.upperBound
    }
    ranges = rest
  }

  mutating func join(_ other: ArchiveDamage) { for range in other.ranges { insert(range) } }
}

/// Part of a walk over the messages by number, which steps over what is damaged and always comes to an end: every number
/// is beyond the one before, whatever the pages say.
struct HistoryWalk {
  enum Direction { case rising, falling }

  let direction: Direction
  /// The number that is read next.
  private(set) var place: Int64
  /// The number of the last row that was read; nil when there was none.
  private(set) var last: Int64?
  private(set) var rows = 0
  private(set) var damage: ArchiveDamage?
  /// Nothing is beyond.
  private(set) var isAtEnd = false
  private var attempts = 0

  /// - Parameter cursor: only what is beyond it.
  init(_ direction: Direction, beyond cursor: Int64?) {
    self.direction = direction
    switch direction {
    case .rising: place = (cursor ?? 0) < .max ? max(0, cursor ?? 0) + 1 : .max
    case .falling: place = cursor.map { $0 > .min ? $0 - 1 : $0 } ?? .max
    }
  }

  /// Where another part of the walk goes on; nil at the end.
  var next: Int64? {
    guard !isAtEnd else { return nil }
    return direction == .rising ? place - 1 : place < .max ? place + 1 : place
  }

  /// Reads rows until there are `limit`, or `take` has enough, or so much was damaged that others should be let at the
  /// archive.
  ///
  /// - Parameters:
  ///   - sql: a statement with `?1`, the number to begin with, and `?2`, how many rows at most; the number is column 0.
  ///   - take: is given only numbers that are beyond the ones before.
  mutating func run(
    _ database: SQLiteDatabase, _ sql: String, limit: Int,
    _ take: (borrowing DatabaseRow) throws(DatabaseError) -> Bool
  ) throws(DatabaseError) {
    var isEnough = false
    var bound: Int64?
    while !isEnough, !isAtEnd, rows < limit {
      do throws(DatabaseError) {
        var found = 0
        let wanted = limit - rows
        try database.each(sql, [.integer(place), .integer(Int64(wanted))]) { (row) throws(DatabaseError) in
          let number = try row.integer(0)
          guard isBeyond(number) else { throw .corrupt(path: database.path, code: 0) }
          found += 1
          place = number
          isEnough = try !take(row)
          passed(number)
          return !isEnough
        }
        if !isEnough, found < wanted { isAtEnd = true }
      } catch {
        guard error.isDamage else { throw error }
        let end = bound ?? Self.highest(database)
        bound = end
        stepOver(database, sql, within: end)
        attempts += 1
        if attempts >= ArchiveLimits.damagedSlice { return }
      }
    }
  }

  private func isBeyond(_ number: Int64) -> Bool {
    number > 0 && (direction == .rising ? number >= place : number <= place)
  }

  private mutating func passed(_ number: Int64) {
    rows += 1
    last = number
    advance(from: number, by: 1)
  }

  private mutating func advance(from number: Int64, by step: Int64) {
    let (beyond, isOver) =
      direction == .rising ? number.addingReportingOverflow(step) : number.subtractingReportingOverflow(step)
    if isOver || beyond < 1 { isAtEnd = true } else { place = beyond }
  }

  /// A single number as a rule. Where the steps are longer, the first number that can be read again is looked for.
  private mutating func stepOver(_ database: SQLiteDatabase, _ sql: String, within highest: Int64) {
    if direction == .falling, place > highest { place = max(1, highest) }
    guard place <= highest else {
      isAtEnd = true
      return
    }
    let start = place
    let doublings = max(0, attempts - ArchiveLimits.damagedSteps)
    let step = doublings < 62 ? Int64(1) << Int64(doublings) : .max
    let size = min(step, direction == .rising ? highest - start + 1 : start)
    func number(_ count: Int64) -> Int64 { direction == .rising ? start + (count - 1) : start - (count - 1) }
    var passed = size
    advance(from: number(size), by: 1)
    if size > 1, !isAtEnd, isReadable(database, sql) {
      var damaged: Int64 = 1
      while passed - damaged > 0 {
        let middle = damaged + (passed - damaged) / 2
        advance(from: number(middle), by: 1)
        if isReadable(database, sql) { passed = middle } else { damaged = middle + 1 }
      }
      advance(from: number(passed), by: 1)
    }
    let (one, other) = (number(1), number(passed))
    let met = min(one, other)...max(one, other)
    if damage == nil { damage = ArchiveDamage(met) } else { damage?.insert(met) }
  }

  /// Whether the next number, or one beyond it, can be read.
  private func isReadable(_ database: SQLiteDatabase, _ sql: String) -> Bool {
    var isRead = false
    try? database.each(sql, [.integer(place), .integer(1)]) { (row) throws(DatabaseError) in
      isRead = isBeyond(try row.integer(0))
      return false
    }
    return isRead
  }

  /// The highest number that was ever given, or one that no message is beyond as far as can be read.
  private static func highest(_ database: SQLiteDatabase) -> Int64 {
    for sql in [
      "SELECT seq FROM sqlite_sequence WHERE name = 'messages'",
      "SELECT max(number) FROM messages INDEXED BY messages_by_time", "SELECT max(number) FROM messages",
    ] {
      let found = try? database.first(sql) { (row) throws(DatabaseError) in try row.integer(0) }
      if let found, found > 0 { return found }
    }
    return Int64(ArchiveLimits.messages)
  }
}

extension DatabaseError {
  /// Of the file, and not of the disk, after which a row may be readable the next time.
  var isDamage: Bool {
    switch self {
    case .corrupt, .column: true
    default: false
    }
  }
}
