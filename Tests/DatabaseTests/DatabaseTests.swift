import Glibc
import Testing

@testable import Database

/// A directory of its own for one test, gone afterwards.
final class TemporaryDirectory {
  let path: String

  init() {
    let number = UInt64.random(in: 0...UInt64.max)
    path = "/tmp/relaychat-database-\(String(number, radix: 16))"
  }

  deinit {
    for name in ["store.db", "store.db-wal", "store.db-shm"] { unsafe unlink(path + "/" + name) }
    unsafe rmdir(path)
  }

  var file: String { path + "/store.db" }
}

let schema = ["CREATE TABLE notes (id INTEGER PRIMARY KEY, key BLOB, body TEXT, size REAL)"]

@Suite struct DatabaseTests {
  private let directory = TemporaryDirectory()
  private func open(_ migrations: [String] = schema) throws -> SQLiteDatabase {
    try SQLiteDatabase(path: directory.file, migrations: migrations)
  }

  private func mode(_ path: String) -> UInt32 {
    var facts = stat()
    return unsafe stat(path, &facts) == 0 ? facts.st_mode & 0o7777 : 0
  }

  @Test func valuesComeBackAsTheyWere() throws {
    let database = try open()
    let insert = "INSERT INTO notes (key, body, size) VALUES (?, ?, ?)"
    try database.execute(insert, [.blob([1, 2, 0, 255]), "text \0 ünïcödé", .real(1.5)])
    try database.execute(insert, [.blob([]), nil, nil])
    #expect(database.lastRow == 2 && database.changedRows == 1)
    let read = try database.rows("SELECT key, body, size FROM notes ORDER BY id", limit: 9) {
      (row) throws(DatabaseError) in
      (try row.blob(0), row.isNull(1) ? nil : try row.text(1), row.isNull(2) ? nil : try row.real(2))
    }
    #expect(read.map(\.0) == [[1, 2, 0, 255], []])
    #expect(read.map(\.1) == ["text \0 ünïcödé", nil])
    #expect(read.map(\.2) == [1.5, nil])
  }

  @Test func columnsAreInputLikeAnyOther() throws {
    let database = try open()
    try database.execute(
      "INSERT INTO notes (key, body) VALUES (?, CAST(? AS TEXT))", [.blob([1, 2, 3]), .blob([0xFF])])
    func read(_ body: (borrowing DatabaseRow) throws(DatabaseError) -> Void) throws {
      try database.rows("SELECT id, key, body FROM notes", limit: 1, body).forEach { _ in }
    }
    #expect(throws: DatabaseError.column(index: 0, expected: "text")) {
      try read { (row) throws(DatabaseError) in _ = try row.text(0) }
    }
    #expect(throws: DatabaseError.column(index: 1, expected: "blob of at most 2 bytes")) {
      try read { (row) throws(DatabaseError) in _ = try row.blob(1, limit: 2) }
    }
    #expect(throws: DatabaseError.column(index: 1, expected: "blob of 4 bytes")) {
      try read { (row) throws(DatabaseError) in _ = try row.blob(1, count: 4) }
    }
    #expect(throws: DatabaseError.column(index: 2, expected: "text of at most 9 bytes")) {
      try read { (row) throws(DatabaseError) in _ = try row.text(2, limit: 9) }
    }
    #expect(throws: DatabaseError.column(index: 7, expected: "integer")) {
      try read { (row) throws(DatabaseError) in _ = try row.integer(7) }
    }
    try database.execute("UPDATE notes SET id = ?", [.bits(.max)])
    try read { (row) throws(DatabaseError) in #expect(try row.bits(0) == .max) }
    #expect(throws: DatabaseError.column(index: 0, expected: "UInt8")) {
      try read { (row) throws(DatabaseError) in _ = try row.number(0, as: UInt8.self) }
    }
  }

  @Test func transactionIsAllOrNothing() throws {
    let database = try open()
    #expect(throws: DatabaseError.self) {
      try database.transaction { () throws(DatabaseError) in
        try database.execute("INSERT INTO notes (id) VALUES (1)")
        try database.execute("INSERT INTO notes (id) VALUES (1)")
      }
    }
    func count() throws -> Int64? {
      try database.first("SELECT count(*) FROM notes") { (row) throws(DatabaseError) in try row.integer(0) }
    }
    #expect(try count() == 0)
    try database.transaction(.relaxed) { () throws(DatabaseError) in
      try database.transaction { () throws(DatabaseError) in try database.execute("INSERT INTO notes (id) VALUES (1)") }
    }
    #expect(try count() == 1)
    #expect(try database.fault() == nil)
    try database.checkpoint()
  }

  @Test func migrationsRunOnceAndInOrder() throws {
    for steps in 1...3 {
      let scripts = (0..<3).map { "CREATE TABLE t\($0) (id INTEGER); INSERT INTO t\($0) VALUES (7);" }
      let database = try open(Array(scripts.prefix(steps)))
      let count = try database.first("SELECT count(*) FROM t0") { (row) throws(DatabaseError) in try row.integer(0) }
      #expect(count == 1)
    }
    #expect(throws: DatabaseError.schemaTooNew(path: directory.file, found: 3, known: 1)) { try open() }
  }

  @Test func failedMigrationLeavesTheVersionBefore() throws {
    #expect(throws: DatabaseError.self) { try open(schema + ["CREATE TABLE more (id); NONSENSE;"]) }
    let database = try open(schema + ["CREATE TABLE more (id)"])
    #expect(throws: Never.self) { try database.execute("SELECT * FROM more") }
  }

  @Test func filesAreForTheirOwnerOnly() throws {
    let database = try open()
    try database.execute("INSERT INTO notes (id) VALUES (1)")
    #expect(mode(directory.path) == 0o700)
    for suffix in ["", "-wal", "-shm"] { #expect(mode(directory.file + suffix) == 0o600) }
  }

  @Test func directoryOpenToOthersIsRefused() throws {
    #expect(unsafe mkdir(directory.path, 0o700) == 0)
    #expect(unsafe chmod(directory.path, 0o750) == 0)
    let error = DatabaseError.directory(.openToOthers(path: directory.path, mode: 0o750))
    #expect(throws: error) { try open() }
    #expect(throws: PrivateDirectoryError.notADirectory(path: "/dev/null")) {
      try PrivateDirectory.prepare("/dev/null/x")
    }
  }

  @Test(.enabled(if: geteuid() == 0)) func directoryOfAnotherUserIsRefused() throws {
    #expect(unsafe mkdir(directory.path, 0o700) == 0)
    #expect(unsafe chown(directory.path, 1, 1) == 0)
    #expect(throws: DatabaseError.directory(.notOurs(path: directory.path, owner: 1))) { try open() }
  }

  @Test(.enabled(if: geteuid() == 0)) func fileOfAnotherUserIsRefused() throws {
    _ = try open()
    #expect(unsafe chown(directory.file, 1, 1) == 0)
    #expect(throws: DatabaseError.notOurs(path: directory.file, owner: 1)) { try open() }
  }

  @Test func strangeFileIsCorruptAndStays() throws {
    try PrivateDirectory.prepare(directory.path)
    let bytes = Array(repeating: UInt8(ascii: "x"), count: 4_096)
    let descriptor = unsafe Glibc.open(directory.file, O_RDWR | O_CREAT, 0o600)
    #expect(unsafe write(descriptor, bytes, bytes.count) == bytes.count)
    close(descriptor)
    let error = #expect(throws: DatabaseError.self) { try open() }
    guard case .corrupt(directory.file, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    var facts = stat()
    #expect(unsafe stat(directory.file, &facts) == 0 && facts.st_size == 4_096)
  }

  @Test func manyStatementsDoNotGrowTheCache() throws {
    let database = try open()
    for number in 0..<(DatabaseLimits.cachedStatements * 3) {
      let value = try database.first("SELECT \(number)") { (row) throws(DatabaseError) in try row.integer(0) }
      #expect(value == Int64(number))
    }
  }

  @Test func promisedTransactionSurvivesAKill() async throws {
    let path = directory.file
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let database = try SQLiteDatabase(path: path, migrations: schema)
      for id in 1...20 {
        try database.transaction { () throws(DatabaseError) in
          try database.execute("INSERT INTO notes (id, body) VALUES (?, 'promised')", [.integer(Int64(id))])
        }
      }
      try database.execute("BEGIN IMMEDIATE")
      for id in 21...40 {
        try database.execute("INSERT INTO notes (id, body) VALUES (?, 'unfinished')", [.integer(Int64(id))])
      }
      kill(getpid(), SIGKILL)
    }
    let database = try open()
    let found = try database.rows("SELECT id, body FROM notes ORDER BY id", limit: 99) { (row) throws(DatabaseError) in
      (try row.integer(0), try row.text(1))
    }
    #expect(found.map(\.0) == Array(1...20))
    #expect(found.allSatisfy { $0.1 == "promised" })
    #expect(try database.fault() == nil)
  }
}
