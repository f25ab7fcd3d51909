package import Database
internal import Lifecycle

/// Keys and values on their way from `plain.db` to `store.db`, without a moment at which one could be lost.
///
/// * Until the last phase the plain store is right. A failure of the sealed path is counted and never fails a call.
/// * A name that the sealed store may have wrong is marked in `plain.db` in the transaction that makes it so, and read
///   from the plain store until the sealed one has caught up: a stale sealed value is never returned.
/// * The plain store is deleted only after every value was copied, read back from the disk and compared, and after the
///   sealed store has recorded that it alone counts.
/// * With `isErasing`, former values are in no file in the clear; where the sealed write failed, a sealed one may stay
///   until the name is settled.
package actor MigratingStore: KeyValueStore {
  private let executor = BlockingExecutor(name: "store")
  private let engine: MigrationEngine

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Opens what is there; the caller then calls `advance` once, so that the migration goes on by itself.
  ///
  /// - Parameters:
  ///   - mayBegin: whether there may be no store yet.
  ///   - beginsSealed: whether a node that has no store yet begins without a plain one.
  ///   - wall: milliseconds since 1970.
  package init(
    plainPath: String, provider: any SealedProvider, settings: Migration.Settings = Migration.Settings(),
    mayBegin: Bool, beginsSealed: Bool = false, disk: any DatabaseDisk = SystemDisk(),
    wall: @escaping @Sendable () -> UInt64
  ) throws(StoreError) {
    engine = try MigrationEngine(
      plainPath: plainPath, provider: provider, settings: settings, mayBegin: mayBegin, beginsSealed: beginsSealed,
      disk: disk, wall: wall)
  }

  package func get(_ name: String) throws(StoreError) -> [UInt8]? { try engine.get(name) }

  package func put(_ values: [(name: String, value: [UInt8])], isErasing: Bool = false) throws(StoreError) {
    do { try RefusedValue.check(values) } catch { throw .refused(error) }
    try engine.put(values, isErasing: isErasing)
  }

  package func remove(_ names: [String]) throws(StoreError) {
    do { try RefusedValue.check(names) } catch { throw .refused(error) }
    try engine.remove(names)
  }

  package func names() throws(StoreError) -> [String] { try engine.names() }

  package func status() throws(StoreError) -> MigrationStatus { try engine.status() }

  /// Takes the steps that time and restarts have earned. Called once after the start, and now and then.
  ///
  /// - Parameter now: whether to wait for no proof; what would lose a value still holds it up.
  @discardableResult
  package func advance(now: Bool = false) throws(StoreError) -> [Migration.Missing] {
    try engine.advance(isImpatient: now) { _ in }
  }

  /// As `advance`, asked for: a step that was taken back is begun again.
  ///
  /// - Returns: what holds up the next step; nothing once the sealed store alone counts.
  package func migrate(
    isImpatient: Bool, progress: @Sendable (MigrationProgress) -> Void
  ) throws(StoreError) -> [Migration.Missing] {
    engine.migration.release()
    return try engine.advance(isImpatient: isImpatient, progress: progress)
  }

  /// Compares all of both stores; in the last phase, opens every value. Names that differ are marked and hold the
  /// migration up; those that were marked before are settled with the plain value, so a second call after the cause was
  /// looked into closes them.
  package func verify(progress: @Sendable (MigrationProgress) -> Void) throws(StoreError) -> MigrationReport {
    try engine.verify(progress: progress)
  }

  /// The plain store alone counts again, until `migrate`. Refused once the plain store is deleted.
  package func rollback() throws(StoreError) { try engine.rollBack() }

  /// Rises with everything that is written to either store.
  package func writes() -> UInt64 {
    (engine.plain?.database.bytesLogged ?? 0) &+ (engine.sealed?.generation ?? 0)
  }

  /// Copies the logs back into the files, so that each file alone is its whole store.
  package func checkpoint() throws(StoreError) {
    do { try engine.plain?.database.checkpoint() } catch { throw .database(error) }
    do { try engine.sealed?.checkpoint() } catch { throw .sealed(error) }
  }
}
