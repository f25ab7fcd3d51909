internal import Database

/// How much the archive has written, by day of UTC.
package struct WriteAccount: Sendable, Equatable {
  /// Days since 1970.
  package private(set) var day: UInt64 = 0
  /// Bytes that the log took today and on the day before. A page of the log goes into the file at most once besides, so
  /// that the disk took at most twice this, and whatever its file system and its cells add.
  package private(set) var bytesToday: UInt64 = 0
  package private(set) var bytesYesterday: UInt64 = 0
  /// What the connection had logged when it was last noted.
  private var noted: UInt64 = 0

  package init() {}

  package var isOverBudget: Bool { max(bytesToday, bytesYesterday) > ArchiveLimits.bytesWrittenPerDay }

  /// - Parameters:
  ///   - logged: what the connection has logged since it was opened.
  ///   - now: milliseconds since 1970; a clock that was set back counts on into the day it had been.
  mutating func note(logged: UInt64, now: UInt64) {
    let today = now / 86_400_000
    if today > day {
      bytesYesterday = today == day + 1 ? bytesToday : 0
      bytesToday = 0
      day = today
    }
    bytesToday += logged - min(noted, logged)
    noted = logged
  }

  static func read(_ database: SQLiteDatabase) throws(DatabaseError) -> WriteAccount {
    var account = WriteAccount()
    try database.each("SELECT name, value FROM keeping WHERE name IN ('day', 'written', 'written-before')") {
      (row) throws(DatabaseError) in
      switch try row.text(0) {
      case "day": account.day = try row.number(1)
      case "written": account.bytesToday = try row.number(1)
      default: account.bytesYesterday = try row.number(1)
      }
      return true
    }
    return account
  }

  func write(to database: SQLiteDatabase) throws(DatabaseError) {
    for (name, value) in [("day", day), ("written", bytesToday), ("written-before", bytesYesterday)] {
      try database.execute(
        "INSERT INTO keeping (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [.text(name), .integer(Int64(clamping: value))])
    }
  }
}
