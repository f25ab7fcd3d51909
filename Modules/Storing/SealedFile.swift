internal import Bytes
package import Database
package import Primitives
internal import Verifying

/// `store.db` itself: values sealed one by one, for one owner whose thread may wait for the disk.
///
/// A row is `generation (8) ‖ kind (1) ‖ salt (16) ‖ ciphertext ‖ tag (16)` under its name, which is not hidden. The
/// kind is 0 for a value and 1 for a deletion that is remembered. The header sums up which rows there are, and both are
/// written in one transaction: a row put back, removed or added while the store is closed shows when it is opened, and
/// later when it is read. Only the file as a whole can be replaced by an older one, which `opened` shows.
///
/// No value and no key of a record is kept in memory; of each name its generation is.
package final class SealedFile: SealedBackend {
  package static let migrations = [
    """
    CREATE TABLE header (
      id INTEGER PRIMARY KEY CHECK (id = 0), store BLOB NOT NULL, commitment BLOB NOT NULL, sealed BLOB NOT NULL
    );
    CREATE TABLE sealed (name TEXT PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID;
    """
  ]
  static let prefixBytes = 9
  private static let recordBytes =
    prefixBytes + RecordSealer.saltBytes + StoringLimits.valueBytes + RecordSealer.tagBytes

  private let path: String
  private let storeID: [UInt8]
  private let disk: any DatabaseDisk
  private let isLooking: Bool
  private var sealer: RecordSealer
  /// Nothing only while it is opened again.
  private var database: SQLiteDatabase?
  private var header = SealedHeader()
  private var entries: [String: SealedEntry] = [:]
  private var tombstoneCount = 0
  /// A transaction failed, so memory may know less than the file.
  private var isUncertain = false
  package var isAlone = true

  /// Opens the store and checks it against its header; a file that is refused stays as it is.
  ///
  /// - Parameters:
  ///   - storeID: 16 bytes that every value is bound to.
  ///   - key: the data key, 32 bytes.
  ///   - mayBegin: whether a store that is missing or was never begun is made.
  ///   - isLooking: whether the file is only looked into, and no byte beside it changes; then nothing may be written.
  package init(
    path: String, storeID: [UInt8], key: consuming Secret, random: RandomSource, mayBegin: Bool,
    isLooking: Bool = false, on disk: any DatabaseDisk = SystemDisk()
  ) throws(SealedStoreError) {
    self.path = path
    self.isLooking = isLooking
    self.storeID = storeID
    self.disk = disk
    guard storeID.count == StoringLimits.storeIDBytes else {
      throw .primitive(.wrongLength(expected: StoringLimits.storeIDBytes, found: storeID.count))
    }
    do { sealer = try RecordSealer(dataKey: key, storeID: storeID, random: random) } catch { throw .primitive(error) }
    guard mayBegin || disk.exists(path) else { throw .missing(path: path) }
    try load(mayBegin: mayBegin)
  }

  package func countOpening() throws(SealedStoreError) {
    _ = try settled()
    header.opened &+= 1
    try change { _ throws(DatabaseError) in }
  }

  package var opened: UInt64 { header.opened }
  package var generation: UInt64 { header.generation }

  package func read(_ name: String) throws(SealedStoreError) -> SealedReading {
    let database = try settled()
    let expected = entries[name]
    var outcome = Result<SealedReading, SealedStoreError>.success(.unknown)
    var isThere = false
    do {
      _ = try database.first("SELECT record FROM sealed WHERE name = ?", [.text(name)]) { row throws(DatabaseError) in
        isThere = true
        try row.withBlob(0, limit: Self.recordBytes) { (record) throws(DatabaseError) in
          outcome = self.open(record, name, expected)
        }
      }
    } catch { throw .database(error) }
    guard isThere || expected == nil || StoredPresence.isSkipped else { throw .rowMissing(name: name) }
    return try outcome.get()
  }

  private func open(
    _ record: RawSpan, _ name: String, _ expected: SealedEntry?
  ) -> Result<SealedReading, SealedStoreError> {
    guard record.byteCount >= Self.prefixBytes else { return .failure(.value(name: name)) }
    guard let entry = Self.entry(record) else { return .failure(.value(name: name)) }
    guard let expected = expected ?? (StoredPresence.isSkipped ? entry : nil) else {
      return .failure(.rowAdded(name: name))
    }
    guard entry == expected || StoredGeneration.isSkipped else {
      return .failure(.generation(name: name, expected: expected.generation, found: entry.generation))
    }
    do {
      let value = try sealer.open(record.extracting(droppingFirst: Self.prefixBytes), name, entry)
      return .success(entry.isRemoved ? .removed : .value(value))
    } catch {
      return .failure(error == .authenticationFailed ? .value(name: name) : .primitive(error))
    }
  }

  package func write(
    _ values: [(name: String, value: [UInt8])], isErasing: Bool
  ) throws(SealedStoreError) {
    let database = try settled()
    let new = Set(values.lazy.map(\.name).filter { self.entries[$0].map(\.isRemoved) ?? true }).count
    let count = entries.count - tombstoneCount + new
    guard new == 0 || count <= StoringLimits.names else { throw .tooManyNames(count) }
    try store(values.map { ($0.name, $0.value) })
    guard isErasing else { return }
    do { try database.checkpoint() } catch { throw .database(error) }
  }

  package func remove(_ names: [String]) throws(SealedStoreError) {
    _ = try settled()
    // A name that is not known is remembered too: a plain store beside this one may know it.
    let names = names.filter { entries[$0]?.isRemoved != true && (entries[$0] != nil || !isAlone) }
    guard !names.isEmpty else { return }
    let count = tombstoneCount + names.count
    guard isAlone || count <= StoringLimits.tombstonesBesidePlain else { throw .tooManyTombstones(count) }
    try store(names.map { ($0, nil) })
  }

  package func names() throws(SealedStoreError) -> [String] {
    _ = try settled()
    return entries.filter { !$0.value.isRemoved }.keys.sorted()
  }

  package func clear() throws(SealedStoreError) {
    _ = try settled()
    isUncertain = true
    header.generation &+= 1
    header.summary = StoreSummary()
    entries = [:]
    tombstoneCount = 0
    try change { database throws(DatabaseError) in try database.execute("DELETE FROM sealed") }
  }

  package func note() throws(SealedStoreError) -> [UInt8] {
    _ = try settled()
    return header.note
  }

  package func setNote(_ note: [UInt8]) throws(SealedStoreError) {
    _ = try settled()
    header.note = Array(note.prefix(StoringLimits.noteBytes))
    try change { _ throws(DatabaseError) in }
  }

  package func checkpoint() throws(SealedStoreError) {
    let database = try settled()
    do { try database.checkpoint() } catch { throw .database(error) }
  }

  package func reopen() throws(SealedStoreError) {
    isUncertain = true
    database = nil
    try load(mayBegin: false)
  }

  // MARK: - Rows

  /// Writes values, and remembers the names without one as removed; memory follows when that is durable.
  private func store(_ changes: [(name: String, value: [UInt8]?)]) throws(SealedStoreError) {
    var rows: [(name: String, record: [UInt8])] = []
    rows.reserveCapacity(changes.count)
    // What memory holds already is ahead of the file until the transaction ends; a failure has it read again.
    isUncertain = true
    do {
      for (name, value) in changes {
        header.generation &+= 1
        let entry = SealedEntry(generation: header.generation, isRemoved: value == nil)
        var record: [UInt8] = []
        record.reserveCapacity(Self.prefixBytes + RecordSealer.saltBytes + (value?.count ?? 0) + RecordSealer.tagBytes)
        record.append(bigEndian: entry.generation)
        record.append(entry.isRemoved ? 1 : 0)
        try sealer.seal(value ?? [], name, entry, appendingTo: &record)
        if let old = entries[name] { header.summary -= try sealer.summary(name, old) }
        header.summary += try sealer.summary(name, entry)
        tombstoneCount += (entry.isRemoved ? 1 : 0) - (entries[name]?.isRemoved == true ? 1 : 0)
        entries[name] = entry
        rows.append((name, record))
      }
      let forgotten = try forgetTombstones()
      try change { database throws(DatabaseError) in
        for row in rows {
          try database.execute(
            "INSERT INTO sealed (name, record) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET record = excluded.record",
            [.text(row.name), .blob(row.record)])
        }
        for name in forgotten { try database.execute("DELETE FROM sealed WHERE name = ?", [.text(name)]) }
      }
    } catch { throw SealedStoreError(error, path: path) }
  }

  /// The oldest deletions above the bound, a step of them at once. Never beside a plain store.
  private func forgetTombstones() throws(PrimitiveError) -> [String] {
    guard isAlone, tombstoneCount > StoringLimits.tombstones else { return [] }
    let removed = entries.filter(\.value.isRemoved).sorted { $0.value.generation < $1.value.generation }
    let forgotten = removed.prefix(removed.count - StoringLimits.tombstones + StoringLimits.tombstoneStep)
    for (name, entry) in forgotten {
      header.summary -= try sealer.summary(name, entry)
      entries[name] = nil
    }
    tombstoneCount -= forgotten.count
    return forgotten.map(\.key)
  }

  /// One transaction: what `body` does, and the header as it is now in memory.
  private func change(
    _ body: (SQLiteDatabase) throws(DatabaseError) -> Void
  ) throws(SealedStoreError) {
    isUncertain = true
    guard let database else { throw .missing(path: path) }
    let sealed: [UInt8]
    do { sealed = try sealer.seal(header: header.encoded) } catch { throw .primitive(error) }
    do {
      try database.transaction { () throws(DatabaseError) in
        try body(database)
        try database.execute("UPDATE header SET sealed = ? WHERE id = 0", [.blob(sealed)])
      }
    } catch { throw .database(error) }
    isUncertain = false
  }

  // MARK: - Opening

  /// The database, with memory that agrees with it.
  private func settled() throws(SealedStoreError) -> SQLiteDatabase {
    if isUncertain { try load(mayBegin: false) }
    guard let database else { throw .missing(path: path) }
    return database
  }

  private func load(mayBegin: Bool) throws(SealedStoreError) {
    let database: SQLiteDatabase
    do throws(DatabaseError) {
      if let open = self.database {
        database = open
      } else if isLooking {
        database = try SQLiteDatabase(looking: path)
        // A file that no build of ours has begun.
        guard try database.version() > 0 else {
          throw .schemaTooNew(path: path, found: 0, known: Self.migrations.count)
        }
      } else {
        // A write changes its row and the header, which lie in two pages.
        database = try SQLiteDatabase(
          path: path, migrations: Self.migrations, pageBytes: DatabaseLimits.smallPageBytes, on: disk)
      }
      try database.check()
    } catch {
      if case .schemaTooNew(_, 0, _) = error { throw .missing(path: path) }
      throw .database(error)
    }
    self.database = database
    try loadHeader(database, mayBegin: mayBegin)
    try loadEntries(database)
    isUncertain = false
  }

  private func loadHeader(_ database: SQLiteDatabase, mayBegin: Bool) throws(SealedStoreError) {
    let row: (store: [UInt8], commitment: [UInt8], sealed: [UInt8])?
    let commitment: [UInt8]
    do {
      row = try database.first("SELECT store, commitment, sealed FROM header WHERE id = 0") {
        row throws(DatabaseError) in
        (try row.blob(0, limit: 64), try row.blob(1, limit: 64), try row.blob(2, limit: 1_024))
      }
    } catch { throw .database(error) }
    do { commitment = try sealer.commitment() } catch { throw .primitive(error) }
    guard let row else { return try begin(database, commitment, mayBegin: mayBegin) }
    guard row.store == storeID || StoreIdentity.isSkipped else { throw .otherStore(path: path, found: row.store) }
    guard row.commitment == commitment || StoreKey.isSkipped else { throw .otherKey(path: path) }
    do throws(PrimitiveError) {
      guard let header = SealedHeader(decoding: try sealer.open(header: row.sealed.rawSpan)) else {
        throw .authenticationFailed
      }
      self.header = header
    } catch { throw error == .authenticationFailed ? .header(path: path) : .primitive(error) }
  }

  private func begin(
    _ database: SQLiteDatabase, _ commitment: [UInt8], mayBegin: Bool
  ) throws(SealedStoreError) {
    header = SealedHeader()
    let sealed: [UInt8]
    do { sealed = try sealer.seal(header: header.encoded) } catch { throw .primitive(error) }
    do {
      let rows = try database.first("SELECT count(*) FROM sealed") { row throws(DatabaseError) in try row.integer(0) }
      guard mayBegin, rows == 0 else { throw SealedStoreError.missing(path: path) }
      try database.execute(
        "INSERT INTO header (id, store, commitment, sealed) VALUES (0, ?, ?, ?)",
        [.blob(storeID), .blob(commitment), .blob(sealed)])
    } catch { throw SealedStoreError(error, path: path) }
  }

  /// Sums the rows up; none is opened, which their reader does.
  private func loadEntries(_ database: SQLiteDatabase) throws(SealedStoreError) {
    let limit = StoringLimits.names + StoringLimits.tombstonesBesidePlain
    var found: [String: SealedEntry] = [:]
    let rows: [(String, SealedEntry?)]
    do {
      rows = try database.rows("SELECT name, substr(record, 1, 9) FROM sealed", limit: limit + 1) {
        row throws(DatabaseError) in
        let name = try row.text(0)
        return try row.withBlob(1) { (bytes) throws(DatabaseError) in
          (name, bytes.byteCount == Self.prefixBytes ? Self.entry(bytes) : nil)
        }
      }
    } catch { throw .database(error) }
    var summary = StoreSummary()
    do {
      for (name, entry) in rows {
        guard let entry else { throw SealedStoreError.summary(path: path) }
        summary += try sealer.summary(name, entry)
        found[name] = entry
      }
    } catch { throw SealedStoreError(error, path: path) }
    guard (summary == header.summary && rows.count <= limit) || StoreRows.isSkipped else { throw .summary(path: path) }
    entries = found
    tombstoneCount = found.values.count(where: \.isRemoved)
  }

  private static func entry(_ record: RawSpan) -> SealedEntry? {
    guard let kind = record.byte(at: 8), kind <= 1 else { return nil }
    return SealedEntry(generation: record.number(UInt64.self, at: 0), isRemoved: kind == 1)
  }
}

/// A file is the store with this id.
enum StoreIdentity: Verification {
  static let name = "store-identity"
}

/// A store was sealed with this data key.
enum StoreKey: Verification {
  static let name = "store-key"
}

/// The rows of a store are those that its header sums up.
enum StoreRows: Verification {
  static let name = "store-rows"
}

/// A row is of the write that the store remembers.
enum StoredGeneration: Verification {
  static let name = "stored-generation"
}

/// A row is there when, and only when, the store remembers it.
enum StoredPresence: Verification {
  static let name = "stored-presence"
}
