internal import CSQLite
import Glibc
internal import Synchronization

extension SQLiteDatabase {
  /// Copies what a database holds at this moment into memory, while others may go on to use it. What was deleted is not
  /// in the copy. Nothing is written beside the database, in the clear or otherwise.
  ///
  /// A file that nobody has open, and that has no log, is read as it is: nothing is made beside it either, so the medium
  /// may be full or read-only.
  ///
  /// - Parameter isInUse: whether another process may be writing to it, or may begin to.
  package static func snapshot(of path: String, isInUse: Bool) throws(DatabaseError) -> DatabaseCopy {
    var log = stat()
    let isLogged = unsafe stat(path + "-wal", &log) == 0 && log.st_size > 0
    return try DatabaseCopy(of: path, query: isInUse || isLogged ? "" : "?immutable=1")
  }
}

/// A database as the bytes of its file, in memory, which are overwritten when nobody needs them any more.
@safe package final class DatabaseCopy {
  private static let made = Atomic<UInt64>(0)

  package let byteCount: Int
  private let connection: OpaquePointer
  /// The memory, as SQLite's own file.
  private let file: UnsafeMutablePointer<sqlite3_file>

  /// - Parameter query: what is added to the path as a URI.
  fileprivate init(of path: String, query: String) throws(DatabaseError) {
    let number = Self.made.wrappingAdd(1, ordering: .relaxed).newValue
    // The leading slash makes the memory common to both connections of this process.
    let name = "file:/copy-\(number)?vfs=memdb"
    let copy = try Self.open(name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path: path)
    do throws(DatabaseError) {
      try Self.fill(name, from: path, query: query)
      var file: UnsafeMutablePointer<sqlite3_file>?
      unsafe sqlite3_file_control(copy.pointer, "main", SQLITE_FCNTL_FILE_POINTER, &file)
      var size: sqlite3_int64 = 0
      guard let file = unsafe file, let methods = unsafe file.pointee.pMethods,
        unsafe methods.pointee.xFileSize(file, &size) == SQLITE_OK, let byteCount = Int(exactly: size), byteCount > 0
      else { throw .statement(code: SQLITE_NOMEM, message: "", sql: "VACUUM INTO") }
      unsafe self.connection = copy.pointer
      unsafe self.file = file
      self.byteCount = byteCount
    } catch {
      unsafe sqlite3_close_v2(copy.pointer)
      throw error
    }
  }

  deinit {
    let zeros = [UInt8](repeating: 0, count: min(byteCount, 1 << 16))
    for offset in stride(from: 0, to: byteCount, by: zeros.count) {
      let count = Int32(clamping: min(zeros.count, byteCount - offset))
      _ = unsafe file.pointee.pMethods.pointee.xWrite(file, zeros, count, sqlite3_int64(offset))
    }
    unsafe sqlite3_close_v2(connection)
  }

  /// At most `count` bytes from a place on.
  package func bytes(from offset: Int, count: Int) throws(DatabaseError) -> [UInt8] {
    guard offset >= 0, offset < byteCount, count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: min(count, byteCount - offset))
    let code = unsafe file.pointee.pMethods.pointee.xRead(
      file, &bytes, Int32(clamping: bytes.count), sqlite3_int64(offset))
    guard code == SQLITE_OK else { throw .statement(code: code, message: "", sql: "read") }
    return bytes
  }

  @safe private struct Connection { let pointer: OpaquePointer }

  private static func open(_ name: String, _ flags: Int32, path: String) throws(DatabaseError) -> Connection {
    var opened: OpaquePointer?
    let flags = flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    let code = unsafe sqlite3_open_v2(name, &opened, flags, nil)
    guard code == SQLITE_OK, let connection = unsafe opened else {
      unsafe sqlite3_close_v2(opened)
      throw SQLiteDatabase.error(code: code, message: "", sql: "open", path: path)
    }
    // SQLite's own bound for databases in memory is 1 GiB; ours is that of the history.
    var limit = sqlite3_int64.max
    unsafe sqlite3_file_control(connection, "main", SQLITE_FCNTL_SIZE_LIMIT, &limit)
    return unsafe Connection(pointer: connection)
  }

  private static func fill(_ copy: String, from path: String, query: String) throws(DatabaseError) {
    let source = try open("file:" + escaped(path) + query, SQLITE_OPEN_READWRITE, path: path)
    defer { unsafe sqlite3_close_v2(source.pointer) }
    unsafe sqlite3_busy_timeout(
      source.pointer, Int32(clamping: DatabaseLimits.busyTimeout.components.seconds * 1_000))
    let script = "PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY; VACUUM INTO '\(copy)'"
    let result = unsafe sqlite3_exec(source.pointer, script, nil, nil, nil)
    guard result == SQLITE_OK else {
      let message = unsafe sqlite3_errmsg(source.pointer).map { unsafe String(cString: $0) } ?? ""
      throw SQLiteDatabase.error(code: result, message: message, sql: "VACUUM INTO", path: path)
    }
  }

  /// As a URI has it (RFC 3986 section 2.1).
  private static func escaped(_ path: String) -> String {
    var text = ""
    for byte in path.utf8 {
      switch byte {
      case 0x2F, 0x2D, 0x2E, 0x5F, 0x30...0x39, 0x41...0x5A, 0x61...0x7A:
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return text
  }
}
