internal import Database

/// Why a name is to be read from the plain store only.
package enum PlainMark: UInt8, Sendable {
  /// It was written or removed, and the sealed store may not know yet, or could not open what it holds.
  case written = 0
  /// Both stores were read and differed, and nobody has settled it yet.
  case mismatch = 1
}

/// What a migration keeps beside the plain values: its record, and the names whose plain value is the right one.
///
/// Names are marked by triggers, so that a write and its mark are one transaction whoever writes: also a program of an
/// earlier version that knows nothing of a sealed store.
extension PlainFile {
  /// Makes the tables; nothing that an earlier version looks at changes.
  func prepareMigration() throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      try database.execute(
        "CREATE TABLE IF NOT EXISTS migration (id INTEGER PRIMARY KEY CHECK (id = 0), record BLOB NOT NULL)")
      try database.execute(
        """
        CREATE TABLE IF NOT EXISTS plain_is_right (name TEXT PRIMARY KEY, reason INTEGER NOT NULL) WITHOUT ROWID
        """)
    }
  }

  /// Nothing also in a file that never saw a migration.
  func record() throws(DatabaseError) -> [UInt8]? {
    let isThere = try database.first("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migration'") {
      row throws(DatabaseError) in try row.integer(0)
    }
    guard isThere != nil else { return nil }
    return try database.first("SELECT record FROM migration WHERE id = 0") { row throws(DatabaseError) in
      try row.blob(0, limit: StoringLimits.noteBytes)
    }
  }

  func save(record: [UInt8]) throws(DatabaseError) {
    try database.execute(
      "INSERT INTO migration (id, record) VALUES (0, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
      [.blob(record)])
  }

  /// From here on every write marks its name. The record is saved with it.
  func beginMarking(record: [UInt8]) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      try dropTriggers()
      try database.execute("DELETE FROM plain_is_right")
      for (event, row) in [("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")] {
        try database.execute(
          """
          CREATE TRIGGER plain_\(event.lowercased()) AFTER \(event) ON plain BEGIN
            INSERT INTO plain_is_right (name, reason) SELECT \(row).name, 0
            WHERE NOT EXISTS (SELECT 1 FROM plain_is_right WHERE name = \(row).name);
          END
          """)
      }
      try save(record: record)
    }
  }

  /// The plain store alone counts again, so no name needs a mark. The record is saved with it.
  func endMarking(record: [UInt8]) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      try dropTriggers()
      try database.execute("DELETE FROM plain_is_right")
      try save(record: record)
    }
  }

  /// Whether the triggers are there: without them a write of this process would leave a stale sealed value.
  func isMarking() throws(DatabaseError) -> Bool {
    let count = try database.first(
      """
      SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'plain'
      AND name IN ('plain_insert', 'plain_update', 'plain_delete')
      """
    ) { row throws(DatabaseError) in try row.integer(0) }
    return count == 3
  }

  func mark(of name: String) throws(DatabaseError) -> PlainMark? {
    try database.first("SELECT reason FROM plain_is_right WHERE name = ?", [.text(name)]) { row throws(DatabaseError) in
      PlainMark(rawValue: try row.number(0)) ?? .mismatch
    }
  }

  /// At most `limit` of the names with this mark, behind `name` in their order.
  func names(with mark: PlainMark, after name: String, limit: Int) throws(DatabaseError) -> [String] {
    try database.rows(
      "SELECT name FROM plain_is_right WHERE reason = ? AND name > ? ORDER BY name",
      [.integer(Int64(mark.rawValue)), .text(name)], limit: limit
    ) { row throws(DatabaseError) in try row.text(0) }
  }

  func count(of mark: PlainMark) throws(DatabaseError) -> Int {
    try database.first(
      "SELECT count(*) FROM plain_is_right WHERE reason = ?", [.integer(Int64(mark.rawValue))]
    ) { row throws(DatabaseError) in try row.number(0) } ?? 0
  }

  /// Values in the plain store, which may be more than `names` gives.
  func count() throws(DatabaseError) -> Int {
    try database.first("SELECT count(*) FROM plain") { row throws(DatabaseError) in try row.number(0) } ?? 0
  }

  func mark(_ name: String, _ mark: PlainMark) throws(DatabaseError) {
    try database.execute(
      "INSERT INTO plain_is_right (name, reason) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET reason = excluded.reason",
      [.text(name), .integer(Int64(mark.rawValue))])
  }

  func unmark(_ names: some Sequence<String>) throws(DatabaseError) {
    for name in names { try database.execute("DELETE FROM plain_is_right WHERE name = ?", [.text(name)]) }
  }

  /// One transaction: takes marks away that are done with and saves the record that says so, writes values and removes
  /// names; the triggers mark those.
  func change(
    unmarking done: Set<String>, record: [UInt8]?, putting values: [(name: String, value: [UInt8])] = [],
    removing names: [String] = []
  ) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      try unmark(done)
      if let record { try save(record: record) }
      try write(values)
      try erase(names)
    }
  }

  private func dropTriggers() throws(DatabaseError) {
    for event in ["insert", "update", "delete"] { try database.execute("DROP TRIGGER IF EXISTS plain_\(event)") }
  }
}
