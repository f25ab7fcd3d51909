/// Why a database cannot be used or a statement failed. Nothing is ever deleted or repaired because of an error.
package enum DatabaseError: Error, Equatable {
  case directory(PrivateDirectoryError)
  /// The file cannot be made or opened; a code of errno.
  case file(path: String, code: Int32)
  /// The file belongs to another user.
  case notOurs(path: String, owner: UInt32)
  /// The file is no database, or its contents contradict each other.
  case corrupt(path: String, code: Int32)
  /// Another process holds the database longer than the busy timeout.
  case busy(path: String)
  /// The disk or the quota is full.
  case full(path: String)
  /// Written by a later version: `found` migrations, of which this program knows `known`.
  case schemaTooNew(path: String, found: Int, known: Int)
  /// A column of the result does not hold what the reader expects.
  case column(index: Int, expected: String)
  /// Any other failure, with SQLite's extended result code and its words.
  case statement(code: Int32, message: String, sql: String)
}
