internal import Lifecycle
package import Primitives

/// Keys and values in `store.db`, sealed one by one under the data key.
///
/// The names are not hidden. What is guaranteed against somebody who can write the file: `SealedFile`.
package actor SealedStore: KeyValueStore {
  private let executor = BlockingExecutor(name: "sealed-store")
  private let file: SealedFile

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// How often a process has opened this store, this time included. The owner keeps a copy of it elsewhere: one that is
  /// larger than this says that an older copy of the store was put back.
  package nonisolated let opened: UInt64

  /// Checks the whole store. See `SealedFile` for what is refused; a refused file stays as it is.
  ///
  /// - Parameters:
  ///   - storeID: 16 bytes that every value is bound to.
  ///   - key: the data key, 32 bytes.
  ///   - mayBegin: whether a store that is missing or was never begun is made.
  package init(
    path: String, storeID: [UInt8], key: consuming Secret, random: RandomSource, mayBegin: Bool
  ) throws(SealedStoreError) {
    let file = try SealedFile(path: path, storeID: storeID, key: key, random: random, mayBegin: mayBegin)
    try file.countOpening()
    opened = file.opened
    self.file = file
  }

  package func get(_ name: String) throws(StoreError) -> [UInt8]? {
    do {
      guard case .value(let value) = try file.read(name) else { return nil }
      return value
    } catch { throw .sealed(error) }
  }

  package func put(_ values: [(name: String, value: [UInt8])], isErasing: Bool = false) throws(StoreError) {
    do { try RefusedValue.check(values) } catch { throw .refused(error) }
    do { try file.write(values, isErasing: isErasing) } catch { throw .sealed(error) }
  }

  package func remove(_ names: [String]) throws(StoreError) {
    do { try RefusedValue.check(names) } catch { throw .refused(error) }
    do { try file.remove(names) } catch { throw .sealed(error) }
  }

  package func names() throws(StoreError) -> [String] {
    do { return try file.names() } catch { throw .sealed(error) }
  }
}
