internal import Database

/// The way forward, and back.
extension MigrationEngine {
  /// Names or values that are held in memory at once.
  private static let batch = 64

  /// Takes every step that nothing holds up. Each can be interrupted anywhere and is taken again by the next call.
  ///
  /// - Returns: what holds up the next step; nothing once the sealed store alone counts.
  func advance(
    isImpatient: Bool, progress: (MigrationProgress) -> Void
  ) throws(StoreError) -> [Migration.Missing] {
    guard !isUndecided else { throw .migration(.undecided) }
    while migration.phase != .sealed {
      if migration.phase != .plain {
        if sealed == nil, isImpatient { try openAgain() }
        try settle(.written, progress: progress)
      }
      do {
        switch migration.next(settings, try facts(), isImpatient: isImpatient) {
        case .stay(let missing): return missing
        case .begin: if try !begin() { return [.sealedStore] }
        case .enter(let phase):
          var next = migration
          next.enter(phase, now: wall())
          try plain?.save(record: next.encoded)
          migration = next
        case .finish: try finish(progress: progress)
        }
      } catch { throw StoreError(error) }
    }
    return []
  }

  /// Compares all of both stores. What differs is marked and stays open; what was open before is settled: the plain
  /// value goes to the sealed store and is read back.
  func verify(progress: (MigrationProgress) -> Void) throws(StoreError) -> MigrationReport {
    var report = MigrationReport()
    guard plain != nil, migration.phase != .plain else {
      if migration.phase == .sealed { report.compared = try openAll(progress: progress) }
      return report
    }
    if sealed == nil { try openAgain() }
    report.settled = try settle(.mismatch, progress: progress) + settle(.written, progress: progress)
    try compareAll(&report, progress: progress)
    return report
  }

  /// The plain store alone counts again.
  func rollBack() throws(StoreError) {
    guard !isUndecided else { throw .migration(.undecided) }
    guard let plain, migration.phase != .sealed else { throw .migration(.plainIsGone) }
    guard migration.phase != .plain else { return }
    var next = migration
    next.rollBack(now: wall())
    do { try plain.endMarking(record: next.encoded) } catch { throw .database(error) }
    migration = next
    unmarked = []
    sealed = nil
  }

  func status() throws(StoreError) -> MigrationStatus {
    do {
      let facts = try facts()
      return MigrationStatus(
        migration: migration, plainValues: try plain?.count(), sealedValues: (try? sealed?.names())?.count,
        markedNames: facts.markedNames, openMismatches: facts.openMismatches, sealedError: sealedError,
        opened: sealed?.opened, missing: migration.missing(settings, facts), leftover: leftover)
    } catch { throw .database(error) }
  }

  // MARK: - Steps

  /// Empties the sealed store and begins to write to both.
  private func begin() throws(StoreError) -> Bool {
    guard let plain else { throw .migration(.plainIsGone) }
    openSealed(mayBegin: true)
    guard let sealed else {
      try? plain.save(record: migration.encoded)
      return false
    }
    do {
      try sealed.countOpening()
      try sealed.clear()
    } catch {
      failed(Self.trouble(ofWrite: error), error)
      self.sealed = nil
      sealedError = error
      return false
    }
    var next = migration
    next.enter(.doubleWrite, now: wall())
    next.confirmed = sealed.generation
    do { try plain.beginMarking(record: next.encoded) } catch {
      self.sealed = nil
      throw .database(error)
    }
    migration = next
    unmarked = []
    return true
  }

  /// Brings the sealed store up to date for the names with this mark, reads back what it wrote, and takes the mark away.
  /// Stops without an error where the sealed store fails; that is counted.
  @discardableResult
  private func settle(_ mark: PlainMark, progress: (MigrationProgress) -> Void) throws(StoreError) -> Int {
    guard let plain else { return 0 }
    do {
      try flush(plain)
      let total = try plain.count(of: mark)
      var (done, last) = (0, "")
      while sealed != nil {
        let names = try plain.names(with: mark, after: last, limit: Self.batch)
        guard let end = names.last else { break }
        last = end
        var settled: Set<String> = []
        for name in names where try settle(name, plain) { settled.insert(name) }
        try plain.change(unmarking: settled, record: confirmedRecord())
        done += settled.count
        if settled.count < names.count { break }
        progress(MigrationProgress(work: .settling, done: done, total: total))
      }
      return done
    } catch { throw .database(error) }
  }

  private func settle(_ name: String, _ plain: PlainFile) throws(DatabaseError) -> Bool {
    guard let sealed else { return false }
    let value = try plain.get(name)
    do {
      if let value { try sealed.write([(name, value)], isErasing: false) } else { try sealed.remove([name]) }
    } catch {
      failed(Self.trouble(ofWrite: error), error)
      return false
    }
    guard let reading = read(name) else { return false }
    return Migration.compare(plain: value, sealed: reading) == .same
  }

  /// Takes away the marks that are done with.
  private func flush(_ plain: PlainFile) throws(DatabaseError) {
    guard !unmarked.isEmpty else { return }
    try plain.change(unmarking: unmarked, record: confirmedRecord())
    unmarked = []
  }

  /// Copies the rest, has the sealed store read from the disk, compares all, makes it count, deletes the plain store.
  private func finish(progress: (MigrationProgress) -> Void) throws(StoreError) {
    guard let plain, sealed != nil else { throw .migration(.held([.sealedStore])) }
    do {
      let count = try plain.count()
      guard count <= StoringLimits.names else { throw StoreError.migration(.held([.room(count)])) }
      try copyRest(plain, progress: progress)
      try flush(plain)
      try plain.database.checkpoint()
    } catch { throw StoreError(error) }
    do {
      try sealed?.checkpoint()
      try sealed?.reopen()
    } catch {
      failed(.open, error)
      throw .migration(.held([.sealedStore]))
    }
    var report = MigrationReport()
    try compareAll(&report, progress: progress)
    do {
      let facts = try facts()
      let missing = migration.missing(settings, facts, isImpatient: true)
      guard report.mismatches == 0, report.copied == 0, missing.isEmpty else {
        throw StoreError.migration(facts.openMismatches > 0 ? .mismatches(facts.openMismatches) : .held(missing))
      }
    } catch { throw StoreError(error) }
    try makeSealedCount(plain)
    deletePlain()
  }

  private func copyRest(
    _ plain: PlainFile, progress: (MigrationProgress) -> Void
  ) throws(StoreError) {
    let names: [String]
    do { names = try plain.names() } catch { throw .database(error) }
    var values: [(name: String, value: [UInt8])] = []
    for (done, name) in names.enumerated() {
      guard let reading = read(name) else { throw .migration(.held([.sealedStore])) }
      if reading == .unknown {
        do { if let value = try plain.get(name) { values.append((name, value)) } } catch { throw .database(error) }
      }
      guard values.count >= Self.batch || done + 1 == names.count else { continue }
      guard values.isEmpty || copy(values) else { throw .migration(.held([.sealedStore])) }
      values = []
      progress(MigrationProgress(work: .copying, done: done + 1, total: names.count))
    }
  }

  private func compareAll(
    _ report: inout MigrationReport, progress: (MigrationProgress) -> Void
  ) throws(StoreError) {
    guard let plain, let store = sealed else { throw .migration(.held([.sealedStore])) }
    do {
      let known = try plain.names()
      // What only the sealed store has is a difference too.
      let names = known + Set(try store.names()).subtracting(known).sorted()
      for (done, name) in names.enumerated() {
        if (done + 1).isMultiple(of: Self.batch) || done + 1 == names.count {
          progress(MigrationProgress(work: .comparing, done: done + 1, total: names.count))
        }
        if try isMarked(name, plain) { continue }
        guard let reading = read(name) else { continue }
        report.compared += 1
        switch compare(name, try plain.get(name), reading) {
        case .same: break
        case .copy: report.copied += 1
        case .mismatch: report.mismatches += 1
        }
      }
    } catch {
      if let error = error as? SealedStoreError { failed(.open, error) }
      throw StoreError(error)
    }
  }

  /// The plain store first says that the sealed one may count, then the sealed one says that it does: from there on
  /// nothing is right but what the sealed one says.
  private func makeSealedCount(_ plain: PlainFile) throws(StoreError) {
    var intent = migration
    intent.isSealing = true
    do {
      try plain.save(record: intent.encoded)
      // Of what is deleted a loss of power may bring back any: the file has to say it without its log too.
      try plain.database.checkpoint()
    } catch { throw .database(error) }
    migration = intent
    var next = intent
    next.enter(.sealed, now: wall())
    do { try sealed?.setNote(next.encoded) } catch {
      // It may be on the disk all the same: only the disk knows.
      guard (try? sealed?.reopen()) != nil, let note = try? sealed?.note() else {
        isUndecided = true
        throw .migration(.undecided)
      }
      guard Migration(decoding: note)?.phase == .sealed else {
        migration.isSealing = false
        failed(Self.trouble(ofWrite: error), error)
        throw .sealed(error)
      }
    }
    migration = next
  }

  private func openAgain() throws(StoreError) {
    openSealed(mayBegin: false)
    guard let plain else { return }
    do {
      if sealed == nil { try plain.save(record: migration.encoded) }
    } catch { throw .database(error) }
    guard sealed != nil else { throw .migration(.held([.sealedStore])) }
  }

  /// Opens every value of a sealed store that is alone; the first that does not open is the error.
  private func openAll(progress: (MigrationProgress) -> Void) throws(StoreError) -> Int {
    guard let sealed else { throw .migration(.undecided) }
    do {
      let names = try sealed.names()
      for (done, name) in names.enumerated() {
        _ = try sealed.read(name)
        if (done + 1).isMultiple(of: Self.batch) || done + 1 == names.count {
          progress(MigrationProgress(work: .comparing, done: done + 1, total: names.count))
        }
      }
      return names.count
    } catch {
      troubled(.open)
      throw .sealed(error)
    }
  }
}
