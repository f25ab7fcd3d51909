internal import CSQLite
import Glibc

extension SQLiteDatabase {
  /// Copies what a database holds at this moment into a new file of mode 0600, while others may go on to use it. Durable
  /// when it returns. What was deleted is not in the copy.
  package static func snapshot(of path: String, to copy: String) throws(DatabaseError) {
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
    defer { unsafe sqlite3_close_v2(opened) }
    guard code == SQLITE_OK, let connection = unsafe opened else {
      throw Self.error(code: code, message: "", sql: "open", path: path)
    }
    unsafe sqlite3_busy_timeout(connection, Int32(clamping: DatabaseLimits.busyTimeout.components.seconds * 1_000))
    let descriptor = unsafe open(copy, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file(path: copy, code: errno) }
    defer { close(descriptor) }
    // The name stands in a literal: doubled quotes are all that there is to it.
    let quoted = copy.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    let result = unsafe sqlite3_exec(connection, "PRAGMA trusted_schema = OFF; VACUUM INTO '\(quoted)'", nil, nil, nil)
    guard result == SQLITE_OK else {
      let message = unsafe sqlite3_errmsg(connection).map { unsafe String(cString: $0) } ?? ""
      throw Self.error(code: result, message: message, sql: "VACUUM INTO", path: path)
    }
    guard fsync(descriptor) == 0 else { throw .file(path: copy, code: errno) }
  }
}
