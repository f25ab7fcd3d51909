internal import CSQLite

/// One row of a result, good only inside the closure that receives it. Columns count from 0; a column that does not
/// hold what is asked for is an error, because a file on disk is input like any other.
@safe package struct DatabaseRow: ~Copyable {
  private let statement: OpaquePointer

  init(_ statement: OpaquePointer) { unsafe self.statement = statement }

  package func isNull(_ column: Int) -> Bool { type(column) == SQLITE_NULL }

  package func integer(_ column: Int) throws(DatabaseError) -> Int64 {
    guard type(column) == SQLITE_INTEGER else { throw .column(index: column, expected: "integer") }
    return unsafe sqlite3_column_int64(statement, Int32(clamping: column))
  }

  /// An integer that fits `Number`, such as `UInt8` or `Int`.
  package func number<Number: FixedWidthInteger>(_ column: Int, as: Number.Type = Number.self) throws(DatabaseError)
    -> Number
  {
    guard let value = Number(exactly: try integer(column)) else {
      throw .column(index: column, expected: "\(Number.self)")
    }
    return value
  }

  /// What `DatabaseValue.bits` stored.
  package func bits(_ column: Int) throws(DatabaseError) -> UInt64 { UInt64(bitPattern: try integer(column)) }

  package func real(_ column: Int) throws(DatabaseError) -> Double {
    guard type(column) == SQLITE_FLOAT else { throw .column(index: column, expected: "real") }
    return unsafe sqlite3_column_double(statement, Int32(clamping: column))
  }

  /// UTF-8 text of at most `limit` bytes.
  package func text(_ column: Int, limit: Int = DatabaseLimits.bytesOfColumn) throws(DatabaseError) -> String {
    guard type(column) == SQLITE_TEXT, let start = unsafe sqlite3_column_text(statement, Int32(clamping: column)) else {
      throw .column(index: column, expected: "text")
    }
    let bytes = unsafe UnsafeBufferPointer(start: start, count: size(column))
    guard bytes.count <= limit, let text = unsafe String(validating: bytes, as: UTF8.self) else {
      throw .column(index: column, expected: "text of at most \(limit) bytes")
    }
    return text
  }

  /// At most `limit` bytes.
  package func blob(_ column: Int, limit: Int = DatabaseLimits.bytesOfColumn) throws(DatabaseError) -> [UInt8] {
    guard type(column) == SQLITE_BLOB else { throw .column(index: column, expected: "blob") }
    let count = size(column)
    guard count <= limit else { throw .column(index: column, expected: "blob of at most \(limit) bytes") }
    guard count > 0, let start = unsafe sqlite3_column_blob(statement, Int32(clamping: column)) else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// At most `limit` bytes, lent to `body` where SQLite holds them.
  package func withBlob<Result>(
    _ column: Int, limit: Int = DatabaseLimits.bytesOfColumn, _ body: (RawSpan) throws(DatabaseError) -> Result
  ) throws(DatabaseError) -> Result {
    guard type(column) == SQLITE_BLOB else { throw .column(index: column, expected: "blob") }
    let count = size(column)
    guard count <= limit else { throw .column(index: column, expected: "blob of at most \(limit) bytes") }
    guard count > 0, let start = unsafe sqlite3_column_blob(statement, Int32(clamping: column)) else {
      return try body(RawSpan())
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count)
    return try body(unsafe bytes.bytes)
  }

  /// Exactly `count` bytes.
  package func blob(_ column: Int, count: Int) throws(DatabaseError) -> [UInt8] {
    let bytes = try blob(column, limit: count)
    guard bytes.count == count else { throw .column(index: column, expected: "blob of \(count) bytes") }
    return bytes
  }

  /// Whatever the column holds, for whoever copies rows as they are.
  package func value(_ column: Int) throws(DatabaseError) -> DatabaseValue {
    switch type(column) {
    case SQLITE_INTEGER: .integer(try integer(column))
    case SQLITE_FLOAT: .real(try real(column))
    case SQLITE_TEXT: .text(try text(column))
    case SQLITE_BLOB: .blob(try blob(column))
    default: .null
    }
  }

  /// Also `SQLITE_NULL` for a column that the result does not have.
  private func type(_ column: Int) -> Int32 {
    let columns = unsafe Int(sqlite3_column_count(statement))
    guard column >= 0, column < columns else { return SQLITE_NULL }
    return unsafe sqlite3_column_type(statement, Int32(clamping: column))
  }

  private func size(_ column: Int) -> Int {
    max(0, Int(unsafe sqlite3_column_bytes(statement, Int32(clamping: column))))
  }
}
