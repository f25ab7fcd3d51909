internal import Database

/// Runs a `Migration` over the two files. For one owner whose thread may wait for the disk.
///
/// In every phase but the last, what `plain.db` holds is right; a name that the sealed store may have wrong is marked
/// there in the transaction that makes it so. So nothing depends on where the process dies.
final class MigrationEngine {
  let plainPath: String
  let provider: any SealedProvider
  let settings: Migration.Settings
  let disk: any DatabaseDisk
  let wall: @Sendable () -> UInt64
  /// Nothing once it is deleted.
  var plain: PlainFile?
  /// Nothing while it cannot be opened.
  var sealed: (any SealedBackend)?
  var sealedError: SealedStoreError?
  var migration: Migration
  /// Marks in `plain.db` that are done with and go with the next write: the sealed store has what is right.
  var unmarked: Set<String> = []
  /// Whether the sealed store counts could not be read after the attempt to make it count.
  var isUndecided = false
  var leftover: Int32?

  init(
    plainPath: String, provider: any SealedProvider, settings: Migration.Settings, mayBegin: Bool,
    beginsSealed: Bool, disk: any DatabaseDisk = SystemDisk(),
    wall: @escaping @Sendable () -> UInt64
  ) throws(StoreError) {
    self.plainPath = plainPath
    self.provider = provider
    self.settings = settings
    self.disk = disk
    self.wall = wall
    migration = Migration(now: wall())
    if disk.exists(plainPath) {
      try openBoth()
    } else if provider.exists {
      try openSealedAlone(mayBegin: mayBegin, beginsSealed: beginsSealed)
    } else {
      guard mayBegin else { throw .migration(.missing) }
      if beginsSealed { try beginSealed() } else { try openBoth() }
    }
  }

  func get(_ name: String) throws(StoreError) -> [UInt8]? {
    guard let plain else { return try getSealed(name) }
    do {
      let isMarked = try isMarked(name, plain)
      switch migration.reading(isMarked: isMarked, isSealedOpen: sealed != nil) {
      case .plainOnly, .sealedOnly: return try plain.get(name)
      case .sealedFirst:
        guard let reading = read(name) else { return try plain.get(name) }
        switch reading {
        case .value(let value): return value
        case .removed: return nil
        case .unknown:
          let value = try plain.get(name)
          if let value { copy([(name, value)]) }
          return value
        }
      case .bothAndCompare:
        let value = try plain.get(name)
        if let reading = read(name) { _ = compare(name, value, reading) }
        return value
      }
    } catch { throw .database(error) }
  }

  /// Whether the plain value is known to be the right one.
  func isMarked(_ name: String, _ plain: PlainFile) throws(DatabaseError) -> Bool {
    if unmarked.contains(name) || migration.phase == .plain { return false }
    return try plain.mark(of: name) != nil
  }

  func put(_ values: [(name: String, value: [UInt8])], isErasing: Bool) throws(StoreError) {
    try change(putting: values, removing: [], isErasing: isErasing) { sealed throws(SealedStoreError) in
      try sealed.write(values, isErasing: isErasing)
    }
  }

  func remove(_ names: [String]) throws(StoreError) {
    try change(putting: [], removing: names, isErasing: false) { sealed throws(SealedStoreError) in
      try sealed.remove(names)
    }
  }

  func names() throws(StoreError) -> [String] {
    if let plain { do { return try plain.names() } catch { throw .database(error) } }
    guard let sealed else { throw .migration(.undecided) }
    do { return try sealed.names() } catch { throw .sealed(error) }
  }

  // MARK: - Both stores

  /// The plain store first, with a mark; then the sealed one, whose failure is counted and leaves the mark.
  private func change(
    putting values: [(name: String, value: [UInt8])], removing names: [String], isErasing: Bool,
    _ seal: (any SealedBackend) throws(SealedStoreError) -> Void
  ) throws(StoreError) {
    guard let plain else {
      guard let sealed else { throw .migration(.undecided) }
      do { try seal(sealed) } catch {
        troubled(Self.trouble(ofWrite: error))
        throw .sealed(error)
      }
      return
    }
    guard !isUndecided else { throw .migration(.undecided) }
    let changed = values.map(\.name) + names
    do {
      let record = unmarked.isEmpty ? nil : confirmedRecord()
      try plain.change(unmarking: unmarked, record: record, putting: values, removing: names)
      unmarked = []
    } catch {
      // Whether it is durable is not known, so a mark that may be new is believed.
      unmarked.subtract(changed)
      throw .database(error)
    }
    if migration.phase != .plain, let sealed {
      do {
        try seal(sealed)
        unmarked.formUnion(changed)
      } catch { failed(Self.trouble(ofWrite: error), error) }
    }
    guard isErasing else { return }
    do { try plain.database.checkpoint() } catch { throw .database(error) }
  }

  /// Nothing when it did not open: that is counted, and the plain value is right from now on.
  func read(_ name: String) -> SealedReading? {
    guard let sealed else { return nil }
    do { return try sealed.read(name) } catch {
      failed(.open, error)
      mark(name, .written)
      return nil
    }
  }

  /// A copy that fails is counted; the sealed store knows nothing of the names then, so nothing needs a mark.
  @discardableResult
  func copy(_ values: [(name: String, value: [UInt8])]) -> Bool {
    guard let sealed else { return false }
    do {
      try sealed.write(values, isErasing: false)
      return true
    } catch {
      failed(Self.trouble(ofWrite: error), error)
      return false
    }
  }

  func compare(_ name: String, _ value: [UInt8]?, _ reading: SealedReading) -> Migration.Comparison {
    let comparison = Migration.compare(plain: value, sealed: reading)
    switch comparison {
    case .same: break
    case .copy: if let value { copy([(name, value)]) }
    case .mismatch:
      troubled(.mismatch)
      mark(name, .mismatch)
    }
    return comparison
  }

  /// Durable as far as the disk lets it: a mark that is lost is made again by the next read that finds the same.
  func mark(_ name: String, _ mark: PlainMark) {
    unmarked.remove(name)
    try? plain?.mark(name, mark)
  }

  func troubled(_ trouble: Migration.Trouble) {
    migration.troubled(trouble, now: wall())
    // A count that cannot be written now is written with the next.
    if let plain { try? plain.save(record: migration.encoded) } else { try? sealed?.setNote(migration.encoded) }
  }

  /// Counts the trouble; a sealed store of which nothing can be used any more is not asked again before somebody wants
  /// to know, or the next start.
  func failed(_ trouble: Migration.Trouble, _ error: SealedStoreError) {
    troubled(trouble)
    switch error {
    case .noKey, .missing, .otherStore, .otherKey, .header, .summary, .database(.corrupt):
      sealed = nil
      sealedError = error
    default: break
    }
  }

  /// The record that goes with marks being taken away: a sealed store with fewer writes is an older copy.
  func confirmedRecord() -> [UInt8] {
    if let sealed { migration.confirmed = sealed.generation }
    return migration.encoded
  }

  private func getSealed(_ name: String) throws(StoreError) -> [UInt8]? {
    guard let sealed else { throw .migration(.undecided) }
    do {
      guard case .value(let value) = try sealed.read(name) else { return nil }
      return value
    } catch {
      troubled(.open)
      throw .sealed(error)
    }
  }

  static func trouble(ofWrite error: SealedStoreError) -> Migration.Trouble {
    switch error {
    case .noKey: .keyFetch
    case .primitive: .seal
    case .database, .tooManyNames, .tooManyTombstones: .write
    // A write that follows a failed one reads the store again first.
    case .missing, .otherStore, .otherKey, .header, .summary, .generation, .rowMissing, .rowAdded, .value: .open
    }
  }

  func facts() throws(DatabaseError) -> Migration.Facts {
    let marked = try plain?.count(of: .written) ?? 0
    return Migration.Facts(
      now: wall(), isSealedOpen: sealed != nil, openMismatches: try plain?.count(of: .mismatch) ?? 0,
      markedNames: max(0, marked - unmarked.count))
  }
}
