package import Database

/// `plain.db` itself, for one owner whose thread may wait for the disk.
///
/// The schema is that of the first builds and stays it: a program of any version opens the file. What a migration needs
/// lies in tables of its own, which the first builds do not look at.
package final class PlainFile {
  package static let migrations = ["CREATE TABLE plain (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"]

  let database: SQLiteDatabase

  /// Reads the whole file: a damaged one is refused, not half believed.
  package init(path: String, on disk: any DatabaseDisk = SystemDisk()) throws(DatabaseError) {
    database = try SQLiteDatabase(path: path, migrations: Self.migrations, on: disk)
    try database.check()
    // What a process that died had replaced, and not erased yet.
    try database.checkpoint()
  }

  /// Only to look into it; no byte changes.
  package init(looking path: String) throws(DatabaseError) {
    database = try SQLiteDatabase(looking: path)
    try database.check()
  }

  package func get(_ name: String) throws(DatabaseError) -> [UInt8]? {
    try database.first("SELECT value FROM plain WHERE name = ?", [.text(name)]) { row throws(DatabaseError) in
      try row.blob(0, limit: StoringLimits.valueBytes)
    }
  }

  /// All or none of the values.
  package func put(_ values: [(name: String, value: [UInt8])], isErasing: Bool) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in try write(values) }
    if isErasing { try database.checkpoint() }
  }

  package func remove(_ names: [String]) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in try erase(names) }
  }

  package func names() throws(DatabaseError) -> [String] {
    try database.rows("SELECT name FROM plain ORDER BY name", limit: StoringLimits.names) {
      row throws(DatabaseError) in try row.text(0)
    }
  }

  func write(_ values: [(name: String, value: [UInt8])]) throws(DatabaseError) {
    for (name, value) in values {
      try database.execute(
        "INSERT INTO plain (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [.text(name), .blob(value)])
    }
  }

  func erase(_ names: [String]) throws(DatabaseError) {
    for name in names { try database.execute("DELETE FROM plain WHERE name = ?", [.text(name)]) }
  }
}
