package import Database
package import Primitives

/// Why an archive is not opened. The file stays as it is.
package enum ArchiveError: Error, Equatable {
  case database(DatabaseError)
  /// The archive is sealed, in whole or in part, and no key was given.
  case isSealed(path: String)
  /// It holds messages or contacts and was never sealed, where that was to be expected.
  case isPlain(path: String)
  /// The key is not the one it was sealed under, or its phase was written by somebody who has no key.
  case wrongKey(path: String)
  /// A contact does not open: whoever was blocked or verified would be forgotten without a word.
  case contactsUnreadable(path: String)
  case primitive(PrimitiveError)
  /// The quarantine holds as many files as it may; a person has to look at them.
  case quarantineFull(path: String, count: Int)
  /// A file cannot be moved; a code of errno.
  case file(path: String, code: Int32)
}

extension DatabaseError {
  /// A row could not be sealed: libcrypto or the random generator failed.
  static func unsealable(_ error: PrimitiveError) -> DatabaseError {
    .statement(code: 0, message: "\(error)", sql: "seal")
  }
}
