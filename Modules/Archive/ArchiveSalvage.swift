internal import Database
internal import Glibc

/// What a salvage brought into the new file.
package struct SalvageReport: Sendable, Equatable {
  package var messages: Int
  package var contacts: Int
  package var cards: Int
  /// Numbers of messages between the first and the last whose pages cannot be read; that many messages at most are only
  /// in the damaged file.
  package var unreadableNumbers: UInt64
  /// The damaged file.
  package var quarantined: String
}

/// Brings what can be read of an archive whose messages are damaged into a new file, and the damaged one, with its log,
/// into `quarantine/`. Rows are copied as they are, sealed or plain, so no key is needed and none is at risk.
///
/// An archive whose contacts or cards are damaged is refused and stays: whoever was blocked or verified would be
/// forgotten without a word. Nothing is ever deleted, and the quarantine is bounded: a ninth file is refused.
///
/// Survives a kill anywhere: until the new file is whole it is a draft, then it is called `archive.db.salvaged`, and
/// whoever opens an archive that is missing while that is there takes it (`finish`).
package enum ArchiveSalvage {
  private static let companions = ["", "-wal", "-shm"]

  /// - Parameters:
  ///   - path: an archive that nobody has open.
  ///   - wall: milliseconds since 1970, for the name in quarantine.
  package static func run(path: String, wall: UInt64) throws(ArchiveError) -> SalvageReport {
    let place = try Quarantine(besides: path).place(for: path, wall: wall)
    let draft = path + ".draft"
    for companion in companions { unsafe unlink(draft + companion) }
    var report = SalvageReport(messages: 0, contacts: 0, cards: 0, unreadableNumbers: 0, quarantined: place)
    do throws(DatabaseError) {
      let source = try SQLiteDatabase(path: path, migrations: [], isMigrating: false)
      let version = try source.version()
      guard version >= 1, version <= ArchiveSchema.scripts.count else {
        throw .schemaTooNew(path: path, found: version, known: ArchiveSchema.scripts.count)
      }
      let target = try SQLiteDatabase(path: draft, migrations: ArchiveSchema.scripts)
      try target.transaction { () throws(DatabaseError) in
        try copySmallTables(source, version: version, to: target, &report)
        try copyMessages(source, version: version, to: target, &report)
      }
      try target.checkpoint()
    } catch {
      throw .database(error)
    }
    for companion in ["-wal", "-shm"] { unsafe unlink(draft + companion) }
    try move(draft, to: path + ".salvaged")
    for companion in companions where unsafe access(path + companion, F_OK) == 0 {
      try move(path + companion, to: place + companion)
    }
    try finish(path: path)
    return report
  }

  /// Puts a salvaged file in its place after a kill between two steps of `run`, or forgets it where the damaged one had
  /// not gone yet. Nothing to do in every other case.
  static func finish(path: String) throws(ArchiveError) {
    let salvaged = path + ".salvaged"
    guard unsafe access(salvaged, F_OK) == 0 else { return }
    if unsafe access(path, F_OK) == 0 {
      // Killed before the damaged file went: all of it is in there, and this one must not be taken at some later time.
      unsafe unlink(salvaged)
      return
    }
    // A log left behind would be read into the new file.
    for companion in ["-wal", "-shm"] where unsafe access(path + companion, F_OK) == 0 {
      try move(path + companion, to: try Quarantine(besides: path).latest(for: path) + companion)
    }
    try move(salvaged, to: path)
  }

  private static func move(_ source: String, to target: String) throws(ArchiveError) {
    guard unsafe rename(source, target) == 0 else { throw .file(path: source, code: errno) }
    for path in [source, target] { try Quarantine.sync(directoryOf: path) }
  }

  // MARK: Rows

  private static func copySmallTables(
    _ source: SQLiteDatabase, version: Int, to target: SQLiteDatabase, _ report: inout SalvageReport
  ) throws(DatabaseError) {
    let isSealable = version >= 4
    report.cards = try copy(
      "contacts", columns: ["peer", "card", "saved"] + (isSealable ? ["sealed"] : []), source, to: target)
    if version >= 2 {
      report.contacts = try copy(
        "people",
        columns: ["peer", "name", "state", "blocked", "rival"] + (version >= 3 ? ["used"] : [])
          + (isSealable ? ["sealed"] : []), source, to: target)
    }
    if isSealable { _ = try copy("keeping", columns: ["name", "value"], source, to: target) }
    if version >= 5 {
      // What the relay had seen is worth less than the rest: where it is damaged the new file does without.
      do throws(DatabaseError) {
        _ = try copy("seen", columns: ["number", "content"], source, to: target)
      } catch {
        guard error.isDamage else { throw error }
        try target.execute("DELETE FROM seen")
      }
    }
  }

  private static func copy(
    _ table: String, columns: [String], _ source: SQLiteDatabase, to target: SQLiteDatabase
  ) throws(DatabaseError) -> Int {
    try source.check(table: table)
    let names = columns.joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    var count = 0
    try source.each("SELECT \(names) FROM \(table)") { (row) throws(DatabaseError) in
      try target.execute("INSERT INTO \(table) (\(names)) VALUES (\(marks))", try values(row, columns.count))
      count += 1
      return true
    }
    return count
  }

  private static func values(_ row: borrowing DatabaseRow, _ count: Int) throws(DatabaseError) -> [DatabaseValue] {
    var values: [DatabaseValue] = []
    for column in 0..<count { values.append(try row.value(column)) }
    return values
  }

  /// Reads ranges of numbers; one that cannot be read is halved, until what remains unreadable is single rows.
  private static func copyMessages(
    _ source: SQLiteDatabase, version: Int, to target: SQLiteDatabase, _ report: inout SalvageReport
  ) throws(DatabaseError) {
    let columns = ArchiveSchema.messageColumns.split(separator: ", ").dropLast(version >= 4 ? 0 : 1)
    let names = columns.joined(separator: ", ")
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    let last =
      (try? source.first("SELECT seq FROM sqlite_sequence WHERE name = 'messages'") { (row) throws(DatabaseError) in
        try row.integer(0)
      }) ?? nil
    guard let last, last > 0 else { return }
    var ranges: [ClosedRange<Int64>] = [1...last]
    var attempts = 0
    while let range = ranges.popLast() {
      attempts += 1
      var rows: [[DatabaseValue]] = []
      var reached = range.lowerBound
      do throws(DatabaseError) {
        guard attempts < ArchiveLimits.salvageAttempts else { throw .corrupt(path: source.path, code: 0) }
        try source.each(
          "SELECT \(names) FROM messages WHERE number BETWEEN ? AND ? ORDER BY number LIMIT ?",
          [.integer(range.lowerBound), .integer(range.upperBound), .integer(Int64(ArchiveLimits.sealingStep))]
        ) { (row) throws(DatabaseError) in
          let number = try row.integer(0)
          guard range.contains(number) else { throw .corrupt(path: source.path, code: 0) }
          rows.append(try values(row, columns.count))
          reached = number
          return true
        }
        for row in rows {
          try target.execute("INSERT OR IGNORE INTO messages (\(names)) VALUES (\(marks))", row)
          report.messages += target.changedRows
        }
        if rows.count == ArchiveLimits.sealingStep, reached < range.upperBound {
          ranges.append(reached + 1...range.upperBound)
        }
      } catch {
        guard error.isDamage else { throw error }
        if range.count == 1 || attempts >= ArchiveLimits.salvageAttempts {
          report.unreadableNumbers += UInt64(range.upperBound - range.lowerBound) + 1
        } else {
          let middle = range.lowerBound + (range.upperBound - range.lowerBound) / 2
          ranges.append(middle + 1...range.upperBound)
          ranges.append(range.lowerBound...middle)
        }
      }
    }
    try target.execute("DELETE FROM sqlite_sequence WHERE name = 'messages'")
    try target.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('messages', ?)", [.integer(last)])
  }
}
