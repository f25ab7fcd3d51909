/// Why a migration refuses. Files stay as they are.
package enum MigrationError: Error, Equatable {
  /// There is neither a plain nor a sealed store, and none may begin.
  case missing
  /// The plain store is gone, and the sealed one was not complete yet.
  case plainMissing(path: String)
  /// A plain store lies where none may be: the node is sealed, and this is not what it left to be deleted.
  case foreignPlain(path: String)
  /// The plain store was about to be deleted, and whether the sealed one counts cannot be read: nothing may be written
  /// before it can.
  case undecided
  /// The record of the migration is of a later version or damaged.
  case record(path: String)
  /// There is no way back: the plain store is deleted.
  case plainIsGone
  /// Comparing found names that differ; they are read from the plain store until they are settled.
  case mismatches(Int)
  /// What holds it up.
  case held([Migration.Missing])
}

/// How far a run over the names is.
package struct MigrationProgress: Equatable, Sendable {
  package enum Work: Equatable, Sendable { case settling, copying, comparing }

  package var work: Work
  package var done: Int
  package var total: Int

  package init(work: Work, done: Int, total: Int) {
    self.work = work
    self.done = done
    self.total = total
  }
}

/// Where a migration stands.
package struct MigrationStatus: Equatable, Sendable {
  package var migration: Migration
  /// Values in each store; nothing where it is not open or gone.
  package var plainValues: Int?
  package var sealedValues: Int?
  /// Names whose plain value is right while the sealed one may not be.
  package var markedNames: Int
  /// Names that differ and are not settled.
  package var openMismatches: Int
  /// Why the sealed store is not open.
  package var sealedError: SealedStoreError?
  /// See `SealedStore.opened`.
  package var opened: UInt64?
  /// What holds the phase up.
  package var missing: [Migration.Missing]
  /// Why the deleted plain store is not wholly gone; a code of errno. It is tried again at the next start.
  package var leftover: Int32?

  package var canRollBack: Bool { migration.phase != .sealed && !migration.isSealing }
}

/// What `verify` found.
package struct MigrationReport: Equatable, Sendable {
  package var compared = 0
  package var copied = 0
  package var settled = 0
  package var mismatches = 0
}
