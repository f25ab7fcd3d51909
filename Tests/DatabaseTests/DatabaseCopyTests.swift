import Glibc
import Testing

@testable import Database

@Suite struct DatabaseCopyTests {
  private let directory = TemporaryDirectory()

  private func fill() throws -> SQLiteDatabase {
    let database = try SQLiteDatabase(path: directory.file, migrations: schema)
    for number in 0..<500 {
      try database.execute("INSERT INTO notes (body) VALUES (?)", [.text("note \(number)")])
    }
    return database
  }

  private var names: [String] {
    ["", "-wal", "-shm", ".copy", "-journal"].filter { unsafe access(directory.file + $0, F_OK) == 0 }
  }

  private func bytes(_ path: String) -> [UInt8] {
    let file = unsafe open(path, O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe read(file, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }

  /// Writes a copy to a place of its own and counts what is in it.
  private func notes(_ copy: DatabaseCopy) throws -> Int? {
    let other = TemporaryDirectory()
    try PrivateDirectory.prepare(other.path)
    let file = unsafe open(other.file, O_WRONLY | O_CREAT | O_EXCL, 0o600)
    var offset = 0
    while offset < copy.byteCount {
      let part = try copy.bytes(from: offset, count: 1_000)
      _ = unsafe write(file, part, part.count)
      offset += part.count
    }
    close(file)
    let database = try SQLiteDatabase(path: other.file, migrations: schema)
    #expect(try database.fault() == nil)
    return try database.first("SELECT count(*) FROM notes") { (row) throws(DatabaseError) in
      try row.number(0, as: Int.self)
    }
  }

  @Test func copyOfADatabaseInUseIsWholeAndWritesNothingBesideIt() throws {
    let database = try fill()
    let before = names
    let copy = try SQLiteDatabase.snapshot(of: directory.file, isInUse: true)
    #expect(names == before && !before.contains(".copy"))
    try database.execute("DELETE FROM notes")
    #expect(try notes(copy) == 500, "as it was at that moment")
    #expect(try copy.bytes(from: copy.byteCount, count: 1).isEmpty && copy.bytes(from: -1, count: 1).isEmpty)
  }

  @Test func whatWasDeletedIsNotInTheCopy() throws {
    let database = try fill()
    try database.execute("PRAGMA secure_delete = OFF")
    try database.execute("DELETE FROM notes WHERE id > 1")
    let copy = try SQLiteDatabase.snapshot(of: directory.file, isInUse: true)
    let text = String(decoding: try copy.bytes(from: 0, count: copy.byteCount), as: UTF8.self)
    #expect(text.contains("note 0") && !text.contains("note 77"))
  }

  /// Root may write anywhere, so what cannot be made beside the database is a link to nowhere.
  @Test func databaseThatNothingCanBeMadeBesideIsReadAsItIs() throws {
    do { _ = try fill() }
    #expect(names == [""])
    let before = bytes(directory.file)
    unsafe symlink("/nowhere", directory.file + "-shm")
    defer { unsafe unlink(directory.file + "-shm") }
    #expect(try notes(SQLiteDatabase.snapshot(of: directory.file, isInUse: false)) == 500)
    #expect(names == [""] && bytes(directory.file) == before)
    #expect(throws: DatabaseError.self, "somebody may be writing") {
      try SQLiteDatabase.snapshot(of: directory.file, isInUse: true)
    }
    let log = unsafe open(directory.file + "-wal", O_WRONLY | O_CREAT, 0o600)
    _ = unsafe write(log, "log", 3)
    close(log)
    #expect(throws: DatabaseError.self, "what is in the log would be missing") {
      try SQLiteDatabase.snapshot(of: directory.file, isInUse: false)
    }
    #expect(bytes(directory.file) == before)
  }

  @Test func pathWithOtherLettersIsTakenAsItIs() throws {
    let path = directory.path + "/st?re#%41 ö.db"
    defer { for end in ["", "-wal", "-shm"] { unsafe unlink(path + end) } }
    do {
      let database = try SQLiteDatabase(path: path, migrations: schema)
      try database.execute("INSERT INTO notes (body) VALUES ('x')")
    }
    #expect(try notes(SQLiteDatabase.snapshot(of: path, isInUse: false)) == 1)
    #expect(throws: DatabaseError.self) {
      try SQLiteDatabase.snapshot(of: directory.path + "/none.db", isInUse: false)
    }
  }
}
