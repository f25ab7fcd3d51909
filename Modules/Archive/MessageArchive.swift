internal import Bytes
package import Database
package import Identities
internal import Lifecycle
package import Sessions
internal import Verifying

/// Messages and contacts in `archive.db`.
///
/// Every change is durable when its call returns; changes of messages that wait at the same time share one transaction.
/// With a key rows are sealed one by one (`ArchiveSchema` says what still shows). Bounded by number, and by age and size
/// whenever the owner calls `trim`; the oldest messages go, and the cards of strangers saved longest ago. Contacts
/// (`people`), which the session bounds, and their cards stay.
///
/// Nothing that was opened is kept. No call holds the archive for longer than a few milliseconds and a sync, but for
/// `messages(limit:)` with a great limit, and the end of a sealing, which writes the file anew.
package actor MessageArchive: SessionStore {
  package static let migrations = ArchiveSchema.scripts

  private let executor = BlockingExecutor(name: "archive")
  let database: SQLiteDatabase
  /// Nil in a store that is plain and stays so.
  let seal: RowSeal?
  var phase = ArchivePhase.plain
  /// The number of the last message that a change of the phase has dealt with.
  var phaseNumber: Int64 = 0
  var checked = CheckedSoFar()
  /// Rows that could not be read when their turn came to be sealed.
  var leftPlain = 0
  /// Rows that were left out because they did not open, or were plain where all are sealed; counted at each reading.
  package internal(set) var unreadableRows = 0
  /// What of the messages is damaged, as far as anybody has come upon it since the archive was opened.
  package internal(set) var damage: ArchiveDamage?
  var insertsSinceTrim = 0
  var isGathering = false
  var gathered: [GatheredWrite] = []
  var account = WriteAccount()
  /// One for all rows, so that reading does not allocate for each.
  var opened: [UInt8] = []

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Opens, or makes, an archive, and with a key begins to seal one that is plain: what is written from now on is sealed,
  /// what is there is by `sealNext`. An archive whose unsealing began goes on with that.
  ///
  /// Contacts and cards are read whole, for whoever was blocked or verified must not be forgotten without a word; the
  /// messages are checked by `checkNext`. A file that does not pass is refused and left alone.
  ///
  /// - Parameters:
  ///   - key: nil for an archive that has not been moved yet.
  ///   - mayBePlain: false when all was sealed before, so that a plain file put in its place is refused.
  package init(
    path: String, key: consuming ArchiveKey?, mayBePlain: Bool = true, on disk: any DatabaseDisk = SystemDisk()
  ) throws(ArchiveError) {
    try ArchiveSalvage.finish(path: path)
    let database = try Self.reading { () throws(DatabaseError) in
      let database = try SQLiteDatabase(path: path, migrations: Self.migrations, on: disk)
      for table in ["contacts", "people", "keeping"] { try database.check(table: table) }
      return database
    }
    let seal: RowSeal?
    if let key {
      do { seal = try RowSeal(key) } catch { throw .primitive(error) }
    } else {
      seal = nil
    }
    var stored = try Self.reading { () throws(DatabaseError) in try StoredPhase.read(database) }
    if let seal {
      if stored.phase == .plain {
        let isEmpty = try Self.reading { () throws(DatabaseError) in try Self.isEmpty(database) }
        guard isEmpty || mayBePlain || ArchiveNotPlain.isSkipped else { throw .isPlain(path: path) }
        stored = StoredPhase(phase: isEmpty ? .sealed : .sealing, number: 0)
        try Self.reading { () throws(DatabaseError) in
          try database.transaction { () throws(DatabaseError) in
            if !isEmpty {
              try ContactSealing.seal(database, seal)
              try SeenSealing.turn(in: database, from: nil, to: seal)
            }
            try stored.write(to: database, seal)
          }
        }
      } else {
        guard stored.isProven(by: seal) || ArchiveKeyProof.isSkipped else { throw .wrongKey(path: path) }
      }
    } else {
      guard stored.phase == .plain else { throw .isSealed(path: path) }
    }
    let contacts = try Self.reading { () throws(DatabaseError) in
      try ContactSealing.contacts(in: database, stored.phase.seals ? seal : nil)
    }
    guard !stored.phase.seals || contacts.allSatisfy({ $0 != nil }) else { throw .contactsUnreadable(path: path) }
    account = try Self.reading { () throws(DatabaseError) in try WriteAccount.read(database) }
    self.database = database
    self.seal = seal
    (phase, phaseNumber) = (stored.phase, stored.number)
  }

  private static func reading<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(ArchiveError) -> Result {
    do { return try body() } catch { throw .database(error) }
  }

  /// An archive that is plain and stays so.
  package init(path: String) throws(DatabaseError) {
    do { try self.init(path: path, key: nil) } catch {
      switch error {
      case .database(let error): throw error
      default: throw .statement(code: 0, message: "\(error)", sql: "open")
      }
    }
  }

  /// Whether nothing was ever kept here.
  package func isEmpty() throws(DatabaseError) -> Bool { try Self.isEmpty(database) }

  static func isEmpty(_ database: SQLiteDatabase) throws(DatabaseError) -> Bool {
    for table in ["messages", "contacts", "people", "seen"] {
      let one = try database.first("SELECT 1 FROM \(table) LIMIT 1") { (row) throws(DatabaseError) in
        try row.integer(0)
      }
      if one != nil { return false }
    }
    return true
  }

  package func insert(_ message: StoredMessage) async throws(SessionStoreError) -> Bool {
    try await grouped(.insert(message))
  }

  package func setState(
    _ state: MessageState, of id: MessageID, author: PeerID
  ) async throws(SessionStoreError) {
    _ = try await grouped(.change(id, author, state, packet: nil))
  }

  package func setPacket(
    _ packet: [UInt8], state: MessageState, of id: MessageID, author: PeerID
  ) async throws(SessionStoreError) {
    _ = try await grouped(.change(id, author, state, packet: packet))
  }

  package func waitingMessages(author: PeerID, limit: Int) async throws(SessionStoreError) -> [StoredMessage] {
    try guarded { () throws(DatabaseError) in
      try read("WHERE state = 'waiting' ORDER BY number", limit: limit) { $0.author == author }
    }.map(\.message)
  }

  package func message(_ id: MessageID) async throws(SessionStoreError) -> StoredMessage? {
    try guarded { () throws(DatabaseError) in
      for token in try tokens(plain: id.bytes, { (seal) throws(DatabaseError) in try seal.token(id: id) }) {
        let found = try read("WHERE message = ? ORDER BY number", [.blob(token)], limit: 1) { $0.id == id }
        if let found = found.first { return found.message }
      }
      return nil
    }
  }

  package func messages(limit: Int) async throws(SessionStoreError) -> [StoredMessage] {
    try guarded { () throws(DatabaseError) in
      let blocked = try blockedPeers()
      return try read("ORDER BY number DESC", limit: limit) { isShown($0, blocked) }
    }.reversed().map(\.message)
  }

  package func ownMessages(
    since storedMilliseconds: UInt64, author: PeerID, limit: Int
  ) async throws(SessionStoreError) -> [StoredMessage] {
    try guarded { () throws(DatabaseError) in
      try read(
        "WHERE state IN ('accepted', 'sent') AND stored >= ? ORDER BY number DESC", [.bits(storedMilliseconds)],
        limit: limit
      ) { $0.author == author }
    }.reversed().map(\.message)
  }

  package func save(_ card: VerifiedCard) async throws(SessionStoreError) {
    try written { () throws(DatabaseError) in
      let sealing = phase.seals ? seal : nil
      let saved = try next("SELECT coalesce(max(saved), 0) + 1 FROM contacts")
      try ContactSealing.put(card.encoded, of: card.id, saved: saved, in: database, sealing)
      try database.execute(
        """
        DELETE FROM contacts WHERE peer NOT IN (SELECT peer FROM people) AND saved < (
          SELECT saved FROM contacts WHERE peer NOT IN (SELECT peer FROM people)
          ORDER BY saved DESC LIMIT 1 OFFSET ?)
        """, [.integer(Int64(ArchiveLimits.strangers - 1))])
    }
  }

  package func save(_ contact: Contact) async throws(SessionStoreError) {
    try written { () throws(DatabaseError) in
      let used = try next("SELECT coalesce(max(used), 0) + 1 FROM people")
      try ContactSealing.put(contact, used: used, in: database, phase.seals ? seal : nil)
    }
  }

  package func removeContact(_ peer: PeerID) async throws(SessionStoreError) {
    try written { () throws(DatabaseError) in
      let token = try phase.seals ? seal?.token(peer: peer) : nil
      try database.execute("DELETE FROM people WHERE peer = ?", [.blob(token ?? peer.bytes)])
    }
  }

  package func contacts(limit: Int) async throws(SessionStoreError) -> [Contact] {
    try guarded { () throws(DatabaseError) in
      var kept = try ContactSealing.contacts(in: database, phase.seals ? seal : nil).compactMap { $0 }
      func rank(_ contact: Contact) -> Int { contact.state != .seen || ContactContent.flags(contact) != 0 ? 0 : 1 }
      kept.sort { (rank($0.contact), -$0.used, $0.contact.peer) < (rank($1.contact), -$1.used, $1.contact.peer) }
      return kept.prefix(max(0, limit)).reversed().map(\.contact)
    }
  }

  package func cards(limit: Int) async throws(SessionStoreError) -> [VerifiedCard] {
    try guarded { () throws(DatabaseError) in
      let found = try ContactSealing.cards(in: database, phase.seals ? seal : nil, limit: limit)
      unreadableRows += found.unreadable
      return found.cards.compactMap { try? VerifiedCard(verifying: $0.rawSpan) }
    }
  }

  // MARK: Rows

  /// A message and its number.
  struct Row {
    var number: Int64
    var message: StoredMessage
  }

  /// Opens messages until `limit` of them are taken.
  ///
  /// - Parameter rest: what follows `FROM messages`, a constant of the program.
  func read(
    _ rest: String, _ values: [DatabaseValue] = [], limit: Int, _ isTaken: (StoredMessage) -> Bool
  ) throws(DatabaseError) -> [Row] {
    var found: [Row] = []
    guard limit > 0 else { return [] }
    try database.each("SELECT \(ArchiveSchema.messageColumns) FROM messages \(rest)", values) {
      (row) throws(DatabaseError) in
      if let message = try read(row), isTaken(message) {
        found.append(Row(number: try row.integer(0), message: message))
      }
      return found.count < limit
    }
    return found
  }

  /// Nil, and counted, for a row that no build of ours has written here.
  func read(_ row: borrowing DatabaseRow) throws(DatabaseError) -> StoredMessage? {
    var message: StoredMessage?
    do throws(DatabaseError) {
      message = try row.isNull(13) ? readPlain(row) : readSealed(row)
    } catch {
      // One row that holds something else than a message does not hide the others.
      guard case .column = error else { throw error }
    }
    if message == nil { unreadableRows += 1 }
    return message
  }

  private func readSealed(_ row: borrowing DatabaseRow) throws(DatabaseError) -> StoredMessage? {
    guard let state = MessageState(rawValue: try row.text(11)), try open(row) else { return nil }
    return MessageContent.decode(opened, stored: try row.bits(8), state: state)
  }

  /// Puts what is sealed in the row into `opened`.
  func open(_ row: borrowing DatabaseRow) throws(DatabaseError) -> Bool {
    guard let seal else { return false }
    let place = RowPlace.message(
      number: try row.integer(0), author: try row.blob(1), message: try row.blob(2), stored: try row.bits(8),
      state: try row.text(11))
    return try row.withBlob(13) { (sealed) throws(DatabaseError) in seal.open(sealed, at: place, into: &opened) }
  }

  private func readPlain(_ row: borrowing DatabaseRow) throws(DatabaseError) -> StoredMessage? {
    let isSealedWhole = phase == .sealed || phase == .scrubbing
    guard !isSealedWhole || SealedRow.isSkipped else { return nil }
    let isPersonal = !row.isNull(3)
    guard let author = PeerID(bytes: try row.blob(1)), let id = MessageID(bytes: try row.blob(2)),
      let state = MessageState(rawValue: try row.text(11))
    else { return nil }
    let peer = isPersonal ? PeerID(bytes: try row.blob(3)) : nil
    guard (peer != nil) == isPersonal else { return nil }
    let flags = try row.integer(5)
    return StoredMessage(
      id: id, conversation: peer.map { .peer($0) } ?? .everyone, author: author, authorName: try row.text(4),
      isFromBot: flags & 1 != 0, isEcho: flags & 2 != 0, text: try row.text(6), sentMilliseconds: try row.bits(7),
      storedMilliseconds: try row.bits(8), hops: try row.number(9), path: StoredMessage.path(try row.blob(10)),
      state: state, isLate: flags & 4 != 0, packet: row.isNull(12) ? nil : try row.blob(12))
  }

  /// What may stand in a column that names something: its token, or itself, or either.
  func tokens(
    plain: [UInt8], _ token: (RowSeal) throws(DatabaseError) -> [UInt8]
  ) throws(DatabaseError) -> [[UInt8]] {
    guard let seal, phase.seals || phase.isMixed else { return [plain] }
    return phase.isMixed ? [try token(seal), plain] : [try token(seal)]
  }

  func blockedPeers() throws(DatabaseError) -> Set<PeerID> {
    Set(
      try ContactSealing.contacts(in: database, phase.seals ? seal : nil)
        .compactMap { $0?.contact }.filter(\.isBlocked).map(\.peer))
  }

  func isShown(_ message: StoredMessage, _ blocked: Set<PeerID>) -> Bool {
    !blocked.contains(message.author) || BlockedHidden.isSkipped
  }

  private func next(_ sql: String) throws(DatabaseError) -> Int64 {
    try database.first(sql) { (row) throws(DatabaseError) in try row.integer(0) } ?? 1
  }

  // MARK: Errors

  /// All of `body`, durable, or nothing of it.
  func written<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(SessionStoreError) -> Result {
    try guarded { () throws(DatabaseError) in try database.transaction(.promised, body) }
  }

  func guarded<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(SessionStoreError) -> Result {
    do { return try body() } catch { throw SessionStoreError(error) }
  }
}

extension SessionStoreError {
  init(_ error: DatabaseError) {
    switch error {
    case .full: self.init(reason: "the disk is full")
    case .busy: self.init(reason: "another program holds the archive")
    case .corrupt: self.init(reason: "the archive is damaged")
    // The primary result codes SQLITE_IOERR and SQLITE_READONLY; what was asked for is not there, and may be asked again.
    case .statement(let code, _, _) where code & 0xFF == 10: self.init(reason: "the disk fails")
    case .statement(let code, _, _) where code & 0xFF == 8: self.init(reason: "the archive cannot be written to")
    default: self.init(reason: "\(error)")
    }
  }
}

/// A phase is proven by who has the key.
enum ArchiveKeyProof: Verification {
  static let name = "archive-key-proof"
}

/// An archive that was sealed is not taken from a plain file.
enum ArchiveNotPlain: Verification {
  static let name = "archive-not-plain"
}

/// A row of an archive that is sealed whole is sealed.
enum SealedRow: Verification {
  static let name = "archive-row-sealed"
}

/// What a blocked contact wrote is not shown.
enum BlockedHidden: Verification {
  static let name = "archive-author-not-blocked"
}
