package import Database
package import Primitives

/// Why the sealed store gives or takes nothing. Nothing is ever deleted or repaired because of an error.
package enum SealedStoreError: Error, Equatable {
  /// The data key could not be had; the reason is the provider's.
  case noKey(reason: String)
  /// There is no store, or it was emptied, and none may begin.
  case missing(path: String)
  /// The file belongs to the store with another id.
  case otherStore(path: String, found: [UInt8])
  /// The file was sealed with another data key.
  case otherKey(path: String)
  /// The header does not open: it was changed, or put together from another one.
  case header(path: String)
  /// The rows are not those that the header sums up: one was put back, removed or added while the store was closed.
  case summary(path: String)
  /// While the store was open, a row was replaced by one of another time.
  case generation(name: String, expected: UInt64, found: UInt64)
  /// While the store was open, a row was removed.
  case rowMissing(name: String)
  /// While the store was open, a row was added.
  case rowAdded(name: String)
  /// What is stored under the name was not sealed for it: it was changed, or exchanged with another.
  case value(name: String)
  /// The name is new and there are this many.
  case tooManyNames(Int)
  /// A deletion cannot be remembered beside this many.
  case tooManyTombstones(Int)
  case database(DatabaseError)
  case primitive(PrimitiveError)

  /// Of whichever part of the file at `path` it comes from.
  init(_ error: any Error, path: String) {
    switch error {
    case let error as SealedStoreError: self = error
    case let error as DatabaseError: self = .database(error)
    case let error as PrimitiveError: self = .primitive(error)
    default: self = .missing(path: path)
    }
  }
}
