internal import Database
internal import Verifying

/// Finding out at the start which store counts.
extension MigrationEngine {
  /// A plain store is there, or begins.
  func openBoth() throws(StoreError) {
    do {
      let plain = try PlainFile(path: plainPath, on: disk)
      if let record = try plain.record() {
        guard let decoded = Migration(decoding: record) else { throw StoreError.migration(.record(path: plainPath)) }
        migration = decoded
      }
      self.plain = plain
      if provider.exists || migration.phase != .plain {
        openSealed(mayBegin: migration.phase != .plain && !migration.isSealing)
        if try isSealedAlready() { return try discard(plain) }
      }
      guard sealed != nil || !migration.isSealing else { throw StoreError.migration(.undecided) }
      migration.isSealing = false
      if migration.phase == .plain { sealed = nil }
      try plain.prepareMigration()
      if migration.phase != .plain, try !plain.isMarking() {
        // Somebody put another plain store here. What the sealed one holds is older or newer, nobody can tell.
        throw StoreError.migration(.record(path: plainPath))
      }
      migration.restarted(now: wall())
      refuseOlderCopy()
      countOpening()
      try plain.save(record: migration.encoded)
    } catch { throw StoreError(error) }
  }

  /// A sealed store that knows less than it did when marks were taken away was put back, or made anew: nothing of it is
  /// believed, and all is copied again.
  private func refuseOlderCopy() {
    guard let sealed, sealed.generation < migration.confirmed, !SealedCopyAge.isSkipped else { return }
    migration.troubled(.open, now: wall())
    do {
      try sealed.clear()
      migration.confirmed = sealed.generation
    } catch {
      self.sealed = nil
      sealedError = error
    }
  }

  private func countOpening() {
    do { try sealed?.countOpening() } catch {
      migration.troubled(.write, now: wall())
      sealed = nil
      sealedError = error
    }
  }

  /// No plain store is there: the sealed one has to say that none is needed.
  func openSealedAlone(mayBegin: Bool, beginsSealed: Bool) throws(StoreError) {
    do {
      let sealed = try provider.open(mayBegin: mayBegin)
      self.sealed = sealed
      if try isSealedAlready() {
        leftover = Files.removeDatabase(plainPath, on: disk)
        sealed.isAlone = true
        return try sealed.countOpening()
      }
      // A process that died while both were made.
      guard mayBegin, try sealed.names().isEmpty else {
        throw StoreError.migration(.plainMissing(path: plainPath))
      }
    } catch { throw StoreError(error) }
    sealed = nil
    if beginsSealed { try beginSealed() } else { try openBoth() }
  }

  func beginSealed() throws(StoreError) {
    do {
      let sealed = try provider.open(mayBegin: true)
      migration.enter(.sealed, now: wall())
      try sealed.countOpening()
      try sealed.setNote(migration.encoded)
      sealed.isAlone = true
      self.sealed = sealed
    } catch { throw .sealed(error) }
  }

  /// Tries to open the sealed store; a failure is counted, unless the plain store alone counts.
  func openSealed(mayBegin: Bool) {
    do {
      sealed = try provider.open(mayBegin: mayBegin)
      sealed?.isAlone = false
      sealedError = nil
    } catch {
      sealed = nil
      sealedError = error
      switch error {
      case .noKey: migration.troubled(.keyFetch, now: wall())
      // A process that died while it made the sealed store left a file without a beginning; nothing was in it yet.
      case .missing where migration.phase == .plain: break
      default: migration.troubled(.open, now: wall())
      }
    }
  }

  /// Whether the sealed store says that it alone counts; the record is its own then.
  private func isSealedAlready() throws(StoreError) -> Bool {
    guard let sealed else { return false }
    do {
      let note = try sealed.note()
      guard !note.isEmpty else { return false }
      guard let record = Migration(decoding: note) else { throw StoreError.migration(.record(path: plainPath)) }
      guard record.phase == .sealed else { return false }
      if plain != nil, !migration.isSealing { throw StoreError.migration(.foreignPlain(path: plainPath)) }
      migration = record
      return true
    } catch { throw StoreError(error) }
  }

  /// The process died after the sealed store was made to count. What was written around it since shows as a mark.
  private func discard(_ plain: PlainFile) throws(StoreError) {
    do {
      guard try plain.count(of: .written) == 0, try plain.count(of: .mismatch) == 0 else {
        throw StoreError.migration(.foreignPlain(path: plainPath))
      }
    } catch { throw StoreError(error) }
    self.plain = nil
    deletePlain()
    do { try sealed?.countOpening() } catch { throw .sealed(error) }
  }

  /// Closed and deleted; what could not be is tried again at the next start.
  func deletePlain() {
    plain = nil
    unmarked = []
    leftover = Files.removeDatabase(plainPath, on: disk)
    sealed?.isAlone = true
  }
}

/// The sealed store beside a plain one is not an older copy of itself.
enum SealedCopyAge: Verification {
  static let name = "sealed-copy-age"
}
