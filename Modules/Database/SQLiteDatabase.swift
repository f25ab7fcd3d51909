internal import CSQLite
internal import Glibc

/// One SQLite database with one writer: a file of mode 0600 in a directory of mode 0700, in write-ahead-log mode.
///
/// Every call may wait for the disk: the owner is an actor whose executor has a thread of its own. Not `Sendable`.
/// The text of a statement is a constant of the program; everything that varies is a `?`.
///
/// A transaction that is `.promised` is on the disk when `transaction` returns and survives a loss of power; one that
/// is `.relaxed` survives the death of the process, and may be lost, as a whole, with the power.
@safe package final class SQLiteDatabase {
  package enum Durability: Sendable {
    case promised, relaxed
  }

  package let path: String
  private let connection: OpaquePointer
  private var statements: [String: PreparedStatement] = [:]
  /// The cached statements, oldest first.
  private var order: [String] = []
  private var durability = Durability.promised
  private var isInTransaction = false
  private var pageSize: UInt64 = 0

  /// Opens the database, making the file and its directory when they are missing, and brings the schema up to date.
  ///
  /// `migrations` are scripts of which each takes the schema one version further; the number that has run is kept in
  /// `user_version`. A script that has shipped never changes.
  ///
  /// - Parameters:
  ///   - isMigrating: false leaves the schema as it is, for whoever reads what is damaged.
  ///   - pageBytes: of a database that is made now; one that is there keeps the size it has.
  package init(
    path: String, migrations: [String], isMigrating: Bool = true, pageBytes: Int = DatabaseLimits.pageBytes,
    on disk: any DatabaseDisk = SystemDisk()
  ) throws(DatabaseError) {
    self.path = path
    try disk.prepareFile(path)
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    let code = unsafe sqlite3_open_v2(path, &opened, flags, disk.vfs)
    guard code == SQLITE_OK, let connection = unsafe opened else {
      unsafe sqlite3_close_v2(opened)
      throw Self.error(code: code, message: "", sql: "open", path: path)
    }
    unsafe self.connection = connection
    let milliseconds = DatabaseLimits.busyTimeout.components.seconds * 1_000
    unsafe sqlite3_busy_timeout(connection, Int32(clamping: milliseconds))
    // A file from elsewhere must not run code through its schema.
    try execute("PRAGMA trusted_schema = OFF")
    try execute("PRAGMA cell_size_check = ON")
    // Before the log is opened: without shared memory its index lies in the memory of this process.
    if disk.vfs != nil { try execute("PRAGMA locking_mode = EXCLUSIVE") }
    try execute("PRAGMA page_size = \(pageBytes)")
    try execute("PRAGMA journal_mode = WAL")
    try execute("PRAGMA synchronous = FULL")
    try execute("PRAGMA foreign_keys = ON")
    // What is deleted or replaced is overwritten with zeros, not only marked as free.
    try execute("PRAGMA secure_delete = ON")
    pageSize = try first("PRAGMA page_size") { (row) throws(DatabaseError) in try row.number(0, as: UInt64.self) } ?? 0
    try execute("PRAGMA wal_autocheckpoint = \(DatabaseLimits.bytesOfLog / max(Int(pageSize), 512))")
    if isMigrating { try migrate(migrations) }
  }

  /// Opens a database only to look into it: no byte of it, of its log or of the directory changes, also when the process
  /// is killed meanwhile. Nobody else may have it open. What a log holds that was not copied back is seen.
  package init(looking path: String) throws(DatabaseError) {
    self.path = path
    let hasLog = Self.size(of: path + "-wal") ?? 0 > 0
    var opened: OpaquePointer?
    let common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    // A log can only be read by who may write; its index lies in the memory of this process.
    let code =
      hasLog
      ? unsafe sqlite3_open_v2(path, &opened, common | SQLITE_OPEN_READWRITE, nil)
      : unsafe sqlite3_open_v2(
        Self.immutable(path), &opened, common | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil)
    guard code == SQLITE_OK, let connection = unsafe opened else {
      unsafe sqlite3_close_v2(opened)
      throw Self.error(code: code, message: "", sql: "open", path: path)
    }
    unsafe self.connection = connection
    unsafe relaychat_sqlite3_keep_log(connection)
    if hasLog { try execute("PRAGMA locking_mode = EXCLUSIVE") }
    try execute("PRAGMA trusted_schema = OFF")
    try execute("PRAGMA cell_size_check = ON")
    try execute("PRAGMA query_only = ON")
  }

  /// Whether there is nothing at `path` that a database could be read of: no file, or an empty one, beside which SQLite
  /// throws a log away unread.
  package static func isNothing(at path: String) -> Bool { size(of: path) ?? 0 == 0 }

  deinit {
    for statement in statements.values { unsafe sqlite3_finalize(statement.pointer) }
    unsafe sqlite3_close_v2(connection)
  }

  /// Runs one statement to its end, ignoring rows.
  package func execute(_ sql: String, _ values: [DatabaseValue] = []) throws(DatabaseError) {
    try run(sql, values) { (_) throws(DatabaseError) in true }
  }

  /// Reads at most `limit` rows.
  package func rows<Result>(
    _ sql: String, _ values: [DatabaseValue] = [], limit: Int,
    _ read: (borrowing DatabaseRow) throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> [Result] {
    var results: [Result] = []
    try run(sql, values) { (row) throws(DatabaseError) in
      guard results.count < limit else { return false }
      results.append(try read(row))
      return results.count < limit
    }
    return results
  }

  /// The first row, if there is one.
  package func first<Result>(
    _ sql: String, _ values: [DatabaseValue] = [], _ read: (borrowing DatabaseRow) throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result? {
    try rows(sql, values, limit: 1, read).first
  }

  /// Reads rows until `take` says that it has enough. The row is good only inside `take`, which may not use the database.
  package func each(
    _ sql: String, _ values: [DatabaseValue] = [], _ take: (borrowing DatabaseRow) throws(DatabaseError) -> Bool
  ) throws(DatabaseError) {
    try run(sql, values, take)
  }

  /// Rows that the last statement inserted, changed or deleted.
  package var changedRows: Int { Int(unsafe sqlite3_changes(connection)) }

  /// The row number of the last insert.
  package var lastRow: Int64 { unsafe sqlite3_last_insert_rowid(connection) }

  /// All of `body` or, when it throws, nothing of it. Transactions do not nest: one inside another joins it.
  package func transaction<Result>(
    _ durability: Durability = .promised, _ body: () throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    if isInTransaction { return try body() }
    try set(durability)
    try execute("BEGIN IMMEDIATE")
    isInTransaction = true
    defer { isInTransaction = false }
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // SQLite has rolled back by itself after some errors; a second time says so, which changes nothing.
      try? execute("ROLLBACK")
      throw error
    }
  }

  /// Reads every page. nil when all is well, else what the first fault is.
  package func fault() throws(DatabaseError) -> String? {
    let answer = try first("PRAGMA quick_check(1)") { (row) throws(DatabaseError) in try row.text(0) }
    return answer == "ok" ? nil : answer
  }

  /// Copies the log back into the file and empties the log, so that the file alone is the whole database and nothing of
  /// what was replaced is left in either.
  package func checkpoint() throws(DatabaseError) {
    let isBusy = try first("PRAGMA wal_checkpoint(TRUNCATE)") { (row) throws(DatabaseError) in try row.integer(0) }
    guard isBusy == 0 else { throw .busy(path: path) }
  }

  /// Throws `corrupt` when a page of the file is damaged.
  package func check() throws(DatabaseError) {
    guard try fault() == nil else { throw .corrupt(path: path, code: SQLITE_CORRUPT) }
  }

  /// The same for one table and its indices, whose name is a constant of the program.
  package func check(table: String) throws(DatabaseError) {
    let answer = try first("PRAGMA quick_check(\(table))") { (row) throws(DatabaseError) in try row.text(0) }
    guard answer == "ok" else { throw .corrupt(path: path, code: SQLITE_CORRUPT) }
  }

  /// The schema's version: how many migrations have run.
  package func version() throws(DatabaseError) -> Int {
    try first("PRAGMA user_version") { (row) throws(DatabaseError) in try row.number(0, as: Int.self) } ?? 0
  }

  /// Writes the whole database anew, so that its pages hold what is kept and nothing that once was. Takes as long as
  /// reading and writing all of it.
  package func rebuild() throws(DatabaseError) {
    try execute("VACUUM")
  }

  /// Bytes that this connection has written into its log since it was opened, frame headers included. A page of the log
  /// is copied back into the file at most once, so what the disk took is at most twice this.
  package var bytesLogged: UInt64 {
    var (pages, highest): (Int32, Int32) = (0, 0)
    guard unsafe sqlite3_db_status(connection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &highest, 0) == SQLITE_OK else {
      return 0
    }
    return UInt64(max(0, pages)) * (pageSize + 24)
  }

  /// Bytes of the pages that hold something.
  package func bytesInUse() throws(DatabaseError) -> UInt64 {
    func number(_ sql: String) throws(DatabaseError) -> UInt64 {
      try first(sql) { (row) throws(DatabaseError) in try row.number(0, as: UInt64.self) } ?? 0
    }
    let (pages, free) = (try number("PRAGMA page_count"), try number("PRAGMA freelist_count"))
    return (pages - min(free, pages)) * pageSize
  }

  /// Lets the file grow to so many pages and no further; a write that needs more fails with `full`.
  package func bound(pages: Int) throws(DatabaseError) {
    try execute("PRAGMA max_page_count = \(pages)")
  }

  // MARK: - Internals

  private static func size(of path: String) -> Int? {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0 ? Int(facts.st_size) : nil
  }

  /// As a URI: without locks, a log or shared memory.
  private static func immutable(_ path: String) -> String {
    let digits = Array("0123456789abcdef")
    var uri = "file:"
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        uri.append(Character(UnicodeScalar(byte)))
      default: uri += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
    return uri + "?mode=ro&immutable=1"
  }

  private func set(_ durability: Durability) throws(DatabaseError) {
    guard durability != self.durability else { return }
    try execute("PRAGMA synchronous = \(durability == .promised ? "FULL" : "NORMAL")")
    self.durability = durability
  }

  private func migrate(_ migrations: [String]) throws(DatabaseError) {
    let version =
      try first("PRAGMA user_version") { (row) throws(DatabaseError) in try row.number(0, as: Int.self) } ?? 0
    guard version >= 0, version <= migrations.count else {
      throw .schemaTooNew(path: path, found: version, known: migrations.count)
    }
    for (index, script) in migrations.enumerated().dropFirst(version) {
      try transaction { () throws(DatabaseError) in
        try executeScript(script)
        try execute("PRAGMA user_version = \(index + 1)")
      }
    }
  }

  private func executeScript(_ script: String) throws(DatabaseError) {
    let code = unsafe sqlite3_exec(connection, script, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code, script) }
  }

  /// Steps until `take` says that it has enough.
  private func run(
    _ sql: String, _ values: [DatabaseValue], _ take: (borrowing DatabaseRow) throws(DatabaseError) -> Bool
  ) throws(DatabaseError) {
    let statement = unsafe try prepared(sql)
    defer {
      unsafe sqlite3_reset(statement)
      unsafe sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      let code = unsafe bind(value, to: statement, at: Int32(clamping: index + 1))
      guard code == SQLITE_OK else { throw failure(code, sql) }
    }
    while true {
      switch unsafe sqlite3_step(statement) {
      case SQLITE_ROW: if try !take(unsafe DatabaseRow(statement)) { return }
      case SQLITE_DONE: return
      case let code: throw failure(code, sql)
      }
    }
  }

  private func prepared(_ sql: String) throws(DatabaseError) -> OpaquePointer {
    if let statement = statements[sql] { return unsafe statement.pointer }
    if order.count >= DatabaseLimits.cachedStatements {
      if let oldest = statements.removeValue(forKey: order.removeFirst()) { unsafe sqlite3_finalize(oldest.pointer) }
    }
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement = unsafe statement else { throw failure(code, sql) }
    statements[sql] = unsafe PreparedStatement(pointer: statement)
    order.append(sql)
    return unsafe statement
  }

  private func bind(_ value: DatabaseValue, to statement: OpaquePointer, at index: Int32) -> Int32 {
    // SQLite copies the bytes before the call returns.
    let transient = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    switch value {
    case .null: return unsafe sqlite3_bind_null(statement, index)
    case .integer(let number): return unsafe sqlite3_bind_int64(statement, index, number)
    case .real(let number): return unsafe sqlite3_bind_double(statement, index, number)
    case .text(let text):
      return unsafe sqlite3_bind_text(statement, index, text, Int32(clamping: text.utf8.count), transient)
    case .blob(let bytes):
      if bytes.isEmpty { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
      return unsafe bytes.withUnsafeBytes { buffer in
        unsafe sqlite3_bind_blob64(statement, index, buffer.baseAddress, UInt64(buffer.count), transient)
      }
    }
  }

  private func failure(_ code: Int32, _ sql: String) -> DatabaseError {
    let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) } ?? ""
    return Self.error(code: code, message: message, sql: sql, path: path)
  }

  static func error(code: Int32, message: String, sql: String, path: String) -> DatabaseError {
    // SQLITE_IOERR_SHMSIZE: there is no room for the index of the log.
    if code == SQLITE_IOERR | 19 << 8 { return .full(path: path) }
    return switch code & 0xFF {
    case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt(path: path, code: code)
    case SQLITE_BUSY, SQLITE_LOCKED: .busy(path: path)
    case SQLITE_FULL: .full(path: path)
    default: .statement(code: code, message: message, sql: sql)
    }
  }
}

@safe private struct PreparedStatement {
  let pointer: OpaquePointer
}
