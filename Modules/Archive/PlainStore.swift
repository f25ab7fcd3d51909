package import Database
internal import Lifecycle

/// Keys and values in `plain.db`, as they are: the store of the first builds.
///
/// A `put` that returned is durable. Values are at most 64 KiB. One process at a time; the lock of the state directory
/// sees to that.
package actor PlainStore {
  package static let migrations = ["CREATE TABLE plain (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"]

  private let executor = BlockingExecutor(name: "plain-store")
  private let database: SQLiteDatabase

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Reads the whole file: a damaged one is refused, not half believed.
  package init(path: String) throws(DatabaseError) {
    database = try SQLiteDatabase(path: path, migrations: Self.migrations)
    try database.check()
    // What a process that died had replaced, and not erased yet.
    try database.checkpoint()
  }

  package func get(_ name: String) throws(DatabaseError) -> [UInt8]? {
    try database.first("SELECT value FROM plain WHERE name = ?", [.text(name)]) { row throws(DatabaseError) in
      try row.blob(0, limit: ArchiveLimits.valueBytes)
    }
  }

  /// All or none of the values.
  ///
  /// - Parameter isErasing: whether nothing of the former values may be left in any file when this returns.
  package func put(_ values: [(name: String, value: [UInt8])], isErasing: Bool = false) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      for (name, value) in values {
        try database.execute(
          "INSERT INTO plain (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
          [.text(name), .blob(value)])
      }
    }
    if isErasing { try database.checkpoint() }
  }

  package func names() throws(DatabaseError) -> [String] {
    try database.rows("SELECT name FROM plain ORDER BY name", limit: ArchiveLimits.plainNames) {
      row throws(DatabaseError) in try row.text(0)
    }
  }
}
