package import Database
package import Primitives

/// What a sealed store knows of a name.
package enum SealedReading: Equatable, Sendable {
  case value([UInt8])
  /// It was removed, and that is remembered.
  case removed
  case unknown
}

/// A sealed store as the migration uses it: for one owner whose thread may wait for the disk.
package protocol SealedBackend: AnyObject {
  func read(_ name: String) throws(SealedStoreError) -> SealedReading
  /// All or none of the values, durable.
  func write(_ values: [(name: String, value: [UInt8])], isErasing: Bool) throws(SealedStoreError)
  /// All or none of the names, durable, each remembered as removed.
  func remove(_ names: [String]) throws(SealedStoreError)
  /// Names with a value, in order.
  func names() throws(SealedStoreError) -> [String]
  /// Forgets every name, without a memory of it.
  func clear() throws(SealedStoreError)
  /// Up to `StoringLimits.noteBytes` of the owner's, sealed in the header.
  func note() throws(SealedStoreError) -> [UInt8]
  func setNote(_ note: [UInt8]) throws(SealedStoreError)
  /// Copies the log back into the file.
  func checkpoint() throws(SealedStoreError)
  /// Closes the file, opens it and checks it as at the start. What was read before is believed no more.
  func reopen() throws(SealedStoreError)
  /// Rises with every write.
  var generation: UInt64 { get }
  /// Counts this process among those that have opened the store: once, when its owner has decided to use it. Durable.
  func countOpening() throws(SealedStoreError)
  /// How often a process has opened the store. A smaller number than the owner has seen means an older copy.
  var opened: UInt64 { get }
  /// Whether there is no plain store any more, so that old deletions may be forgotten.
  var isAlone: Bool { get set }
}

/// Where a migration gets its sealed store from.
package protocol SealedProvider: Sendable {
  /// Whether there is a file, sealed with whatever.
  var exists: Bool { get }
  /// - Parameter mayBegin: whether a missing store is made.
  func open(mayBegin: Bool) throws(SealedStoreError) -> any SealedBackend
}

/// `store.db` with a data key that is fetched when the store is opened, once.
package struct SealedFileProvider: SealedProvider {
  private let path: String
  private let storeID: [UInt8]
  private let random: RandomSource
  private let disk: any DatabaseDisk
  private let fetchKey: @Sendable () throws(SealedStoreError) -> Secret

  /// - Parameter fetchKey: gives the data key, 32 bytes, or throws `SealedStoreError.noKey`.
  package init(
    path: String, storeID: [UInt8], random: RandomSource, disk: any DatabaseDisk = SystemDisk(),
    fetchKey: @escaping @Sendable () throws(SealedStoreError) -> Secret
  ) {
    self.path = path
    self.storeID = storeID
    self.random = random
    self.disk = disk
    self.fetchKey = fetchKey
  }

  package var exists: Bool { disk.exists(path) }

  package func open(mayBegin: Bool) throws(SealedStoreError) -> any SealedBackend {
    try SealedFile(
      path: path, storeID: storeID, key: try fetchKey(), random: random, mayBegin: mayBegin, on: disk)
  }
}
