package import Database

/// Names and values that outlive the process.
///
/// A `put` or `remove` that returned is durable. One process at a time; the lock of the state directory sees to that.
/// Names are 1 to 255 bytes of UTF-8, values at most 64 KiB.
package protocol KeyValueStore: Sendable {
  func get(_ name: String) async throws(StoreError) -> [UInt8]?

  /// All or none of the values.
  ///
  /// - Parameter isErasing: whether nothing of the former values may be left in any file when this returns.
  func put(_ values: [(name: String, value: [UInt8])], isErasing: Bool) async throws(StoreError)

  /// All or none of the names; one that is not there is no error.
  func remove(_ names: [String]) async throws(StoreError)

  /// In order.
  func names() async throws(StoreError) -> [String]
}

extension KeyValueStore {
  package func put(_ values: [(name: String, value: [UInt8])]) async throws(StoreError) {
    try await put(values, isErasing: false)
  }
}

/// Why a store does not do what it was asked for.
package enum StoreError: Error, Equatable {
  case database(DatabaseError)
  case sealed(SealedStoreError)
  case migration(MigrationError)
  case refused(RefusedValue)
}

extension StoreError {
  /// Of whichever file it comes from.
  init(_ error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as DatabaseError: self = .database(error)
    case let error as SealedStoreError: self = .sealed(error)
    case let error as RefusedValue: self = .refused(error)
    default: self = .migration(.undecided)
    }
  }
}

/// What no store takes.
package enum RefusedValue: Error, Equatable {
  /// A name of this many bytes.
  case name(byteCount: Int)
  case value(name: String, byteCount: Int)
  case values(count: Int)

  static func check(_ name: String) throws(RefusedValue) {
    let count = name.utf8.count
    guard count > 0, count <= StoringLimits.nameBytes else { throw .name(byteCount: count) }
  }

  static func check(_ values: [(name: String, value: [UInt8])]) throws(RefusedValue) {
    guard values.count <= StoringLimits.valuesOfPut else { throw .values(count: values.count) }
    for (name, value) in values {
      try check(name)
      guard value.count <= StoringLimits.valueBytes else { throw .value(name: name, byteCount: value.count) }
    }
  }

  static func check(_ names: [String]) throws(RefusedValue) {
    guard names.count <= StoringLimits.valuesOfPut else { throw .values(count: names.count) }
    for name in names { try check(name) }
  }
}
