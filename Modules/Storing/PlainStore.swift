package import Database
internal import Lifecycle

/// Keys and values in `plain.db`, as they are: the store of the first builds.
package actor PlainStore: KeyValueStore {
  package static let migrations = PlainFile.migrations

  private let executor = BlockingExecutor(name: "plain-store")
  private let file: PlainFile

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Reads the whole file: a damaged one is refused, not half believed.
  package init(path: String) throws(DatabaseError) { file = try PlainFile(path: path) }

  package func get(_ name: String) throws(StoreError) -> [UInt8]? {
    do { return try file.get(name) } catch { throw .database(error) }
  }

  package func put(_ values: [(name: String, value: [UInt8])], isErasing: Bool = false) throws(StoreError) {
    do { try RefusedValue.check(values) } catch { throw .refused(error) }
    do { try file.put(values, isErasing: isErasing) } catch { throw .database(error) }
  }

  package func remove(_ names: [String]) throws(StoreError) {
    do { try RefusedValue.check(names) } catch { throw .refused(error) }
    do { try file.remove(names) } catch { throw .database(error) }
  }

  package func names() throws(StoreError) -> [String] {
    do { return try file.names() } catch { throw .database(error) }
  }
}
