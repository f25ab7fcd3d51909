internal import Bytes
package import Database
package import Identities
internal import Lifecycle
package import Sessions

/// Messages and contacts in `archive.db`.
///
/// Every change is durable when its call returns. Bounded by number; the oldest messages go, and the cards of strangers
/// saved longest ago. Contacts (`people`), which the session bounds, and their cards stay.
package actor MessageArchive: SessionStore {
  package static let migrations = [
    """
    CREATE TABLE messages (
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      author BLOB NOT NULL, message BLOB NOT NULL, peer BLOB, author_name TEXT NOT NULL,
      flags INTEGER NOT NULL, text TEXT NOT NULL, sent INTEGER NOT NULL, stored INTEGER NOT NULL,
      hops INTEGER NOT NULL, path BLOB NOT NULL, state TEXT NOT NULL, packet BLOB,
      UNIQUE (author, message)
    );
    CREATE INDEX messages_by_id ON messages (message);
    CREATE INDEX messages_by_author ON messages (author, stored);
    CREATE TABLE contacts (
      peer BLOB PRIMARY KEY, card BLOB NOT NULL, saved INTEGER NOT NULL
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE people (
      peer BLOB PRIMARY KEY, name TEXT NOT NULL, state TEXT NOT NULL, blocked INTEGER NOT NULL, rival BLOB
    ) WITHOUT ROWID;
    """,
    "ALTER TABLE people ADD COLUMN used INTEGER NOT NULL DEFAULT 0;",
  ]

  private let executor = BlockingExecutor(name: "archive")
  private let database: SQLiteDatabase
  private var insertsSinceTrim = 0

  package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  /// Reads the whole file: one with a damaged page is refused, for whoever was blocked or verified in it would be
  /// forgotten without a word.
  package init(path: String) throws(DatabaseError) {
    database = try SQLiteDatabase(path: path, migrations: Self.migrations)
    try database.check()
  }

  /// Whether nothing was ever kept here.
  package func isEmpty() throws(DatabaseError) -> Bool {
    for table in ["messages", "contacts", "people"] {
      let one = try database.first("SELECT 1 FROM \(table) LIMIT 1") { (row) throws(DatabaseError) in
        try row.integer(0)
      }
      if one != nil { return false }
    }
    return true
  }

  package func insert(_ message: StoredMessage) async throws(SessionStoreError) -> Bool {
    try written { () throws(DatabaseError) in
      try database.execute(
        """
        INSERT INTO messages
        (author, message, peer, author_name, flags, text, sent, stored, hops, path, state, packet)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """,
        [
          .blob(message.author.bytes), .blob(message.id.bytes), .optional(message.conversation.peer?.bytes),
          .text(message.authorName), .integer((message.isFromBot ? 1 : 0) | (message.isEcho ? 2 : 0)),
          .text(message.text), .bits(message.sentMilliseconds), .bits(message.storedMilliseconds),
          .integer(Int64(message.hops)), .blob(message.pathBytes), .text(message.state.rawValue),
          .optional(message.packet),
        ])
      let isInserted = database.changedRows == 1
      insertsSinceTrim += 1
      if insertsSinceTrim >= ArchiveLimits.trimStep {
        insertsSinceTrim = 0
        try database.execute(
          "DELETE FROM messages WHERE number <= (SELECT max(number) FROM messages) - ?",
          [.integer(Int64(ArchiveLimits.messages))])
      }
      return isInserted
    }
  }

  package func setState(
    _ state: MessageState, of id: MessageID, author: PeerID
  ) async throws(SessionStoreError) {
    try written { () throws(DatabaseError) in
      try database.execute(
        "UPDATE messages SET state = ? WHERE author = ? AND message = ?",
        [.text(state.rawValue), .blob(author.bytes), .blob(id.bytes)])
    }
  }

  package func setPacket(
    _ packet: [UInt8], state: MessageState, of id: MessageID, author: PeerID
  ) async throws(SessionStoreError) {
    try written { () throws(DatabaseError) in
      try database.execute(
        "UPDATE messages SET packet = ?, state = ? WHERE author = ? AND message = ?",
        [.blob(packet), .text(state.rawValue), .blob(author.bytes), .blob(id.bytes)])
    }
  }

  package func waitingMessages(author: PeerID, limit: Int) async throws(SessionStoreError) -> [StoredMessage] {
    try guarded { () throws(DatabaseError) in
      try database.rows(
        "SELECT \(Self.columns) FROM messages WHERE author = ? AND state = 'waiting' ORDER BY number LIMIT ?",
        [.blob(author.bytes), .integer(Int64(limit))], limit: limit, Self.read)
    }.compactMap { $0 }
  }

  package func message(_ id: MessageID) async throws(SessionStoreError) -> StoredMessage? {
    try guarded { () throws(DatabaseError) in
      try database.first(
        "SELECT \(Self.columns) FROM messages WHERE message = ? ORDER BY number LIMIT 1", [.blob(id.bytes)], Self.read)
        ?? nil
    }
  }

  package func messages(limit: Int) async throws(SessionStoreError) -> [StoredMessage] {
    try guarded { () throws(DatabaseError) in
      try database.rows(
        """
        SELECT \(Self.columns) FROM messages
        WHERE author NOT IN (SELECT peer FROM people WHERE blocked & 1) ORDER BY number DESC LIMIT ?
        """, [.integer(Int64(limit))], limit: limit, Self.read)
    }.reversed().compactMap { $0 }
  }

  package func ownMessages(
    since storedMilliseconds: UInt64, author: PeerID, limit: Int
  ) async throws(SessionStoreError) -> [StoredMessage] {
    try guarded { () throws(DatabaseError) in
      try database.rows(
        """
        SELECT \(Self.columns) FROM messages WHERE author = ? AND stored >= ? AND state IN ('accepted', 'sent')
        ORDER BY number DESC LIMIT ?
        """,
        [.blob(author.bytes), .bits(storedMilliseconds), .integer(Int64(limit))], limit: limit, Self.read)
    }.reversed().compactMap { $0 }
  }

  package func save(_ card: VerifiedCard) async throws(SessionStoreError) {
    try written { () throws(DatabaseError) in
      try database.execute(
        """
        INSERT INTO contacts (peer, card, saved) VALUES (?1, ?2, (SELECT coalesce(max(saved), 0) + 1 FROM contacts))
        ON CONFLICT (peer) DO UPDATE SET card = excluded.card, saved = excluded.saved
        """, [.blob(card.id.bytes), .blob(card.encoded)])
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
      try database.execute(
        """
        INSERT INTO people (peer, name, state, blocked, rival, used)
        VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(used), 0) + 1 FROM people)) ON CONFLICT (peer) DO UPDATE
        SET name = excluded.name, state = excluded.state, blocked = excluded.blocked, rival = excluded.rival,
          used = excluded.used
        """,
        [
          .blob(contact.peer.bytes), .text(contact.name.text), .text(contact.state.rawValue),
          .integer((contact.isBlocked ? 1 : 0) | (contact.isMeant ? 2 : 0) | (contact.isAddressed ? 4 : 0)),
          .optional(contact.rivals.isEmpty ? nil : contact.rivals.flatMap(\.bytes)),
        ])
    }
  }

  package func removeContact(_ peer: PeerID) async throws(SessionStoreError) {
    try written { () throws(DatabaseError) in
      try database.execute("DELETE FROM people WHERE peer = ?", [.blob(peer.bytes)])
    }
  }

  package func contacts(limit: Int) async throws(SessionStoreError) -> [Contact] {
    try guarded { () throws(DatabaseError) in
      try database.rows(
        """
        SELECT peer, name, state, blocked, rival FROM people
        ORDER BY (state <> 'seen' OR blocked <> 0) DESC, used DESC, peer LIMIT ?
        """, [.integer(Int64(limit))], limit: limit
      ) { row throws(DatabaseError) -> Contact? in
        guard let peer = PeerID(bytes: try row.blob(0)), let name = try? PeerName(try row.text(1)),
          let state = ContactState(rawValue: try row.text(2))
        else { return nil }
        let flags = try row.integer(3)
        let rivals = row.isNull(4) ? [] : try row.blob(4)
        return Contact(
          peer: peer, name: name, state: state, isBlocked: flags & 1 != 0,
          rivals: stride(from: 0, to: rivals.count - rivals.count % PeerID.byteCount, by: PeerID.byteCount).compactMap {
            PeerID(bytes: Array(rivals[$0..<$0 + PeerID.byteCount]))
          }, isMeant: flags & 2 != 0, isAddressed: flags & 4 != 0)
      }
    }.reversed().compactMap { $0 }
  }

  package func cards(limit: Int) async throws(SessionStoreError) -> [VerifiedCard] {
    try guarded { () throws(DatabaseError) in
      try database.rows(
        """
        SELECT card FROM contacts ORDER BY (peer IN (SELECT peer FROM people)) DESC, saved DESC LIMIT ?
        """, [.integer(Int64(limit))], limit: limit
      ) {
        row throws(DatabaseError) in
        let bytes = try row.blob(0)
        return try? VerifiedCard(verifying: bytes.rawSpan)
      }
    }.compactMap { $0 }
  }

  // MARK: Rows

  private static let columns =
    "author, message, peer, author_name, flags, text, sent, stored, hops, path, state, packet"

  /// Nil for a row that no build of ours has written.
  private static func read(_ row: borrowing DatabaseRow) throws(DatabaseError) -> StoredMessage? {
    let isPersonal = !row.isNull(2)
    guard let author = PeerID(bytes: try row.blob(0)), let id = MessageID(bytes: try row.blob(1)),
      let state = MessageState(rawValue: try row.text(10))
    else { return nil }
    let peer = isPersonal ? PeerID(bytes: try row.blob(2)) : nil
    guard (peer != nil) == isPersonal else { return nil }
    let flags = try row.integer(4)
    return StoredMessage(
      id: id, conversation: peer.map { .peer($0) } ?? .everyone, author: author, authorName: try row.text(3),
      isFromBot: flags & 1 != 0, isEcho: flags & 2 != 0, text: try row.text(5), sentMilliseconds: try row.bits(6),
      storedMilliseconds: try row.bits(7), hops: try row.number(8), path: StoredMessage.path(try row.blob(9)),
      state: state, packet: row.isNull(11) ? nil : try row.blob(11))
  }

  /// All of `body`, durable, or nothing of it.
  private func written<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(SessionStoreError) -> Result {
    try guarded { () throws(DatabaseError) in try database.transaction(.promised, body) }
  }

  private func guarded<Result>(
    _ body: () throws(DatabaseError) -> Result
  ) throws(SessionStoreError) -> Result {
    do { return try body() } catch {
      switch error {
      case .full: throw SessionStoreError(reason: "the disk is full")
      case .busy: throw SessionStoreError(reason: "another program holds the archive")
      case .corrupt: throw SessionStoreError(reason: "the archive is damaged")
      default: throw SessionStoreError(reason: "\(error)")
      }
    }
  }
}

extension Conversation {
  var peer: PeerID? { if case .peer(let peer) = self { peer } else { nil } }
}

extension PeerID {
  init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(high: bytes[..<8].bigEndian, low: bytes[8...].bigEndian)
  }
}

extension MessageID {
  var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 16)
    writer.u64(high)
    writer.u64(low)
    return writer.bytes
  }

  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.init(high: bytes[..<8].bigEndian, low: bytes[8...].bigEndian)
  }
}

extension StoredMessage {
  var pathBytes: [UInt8] {
    var writer = ByteWriter(capacity: path.count * 4)
    for entry in path { writer.u32(entry) }
    return writer.bytes
  }

  static func path(_ bytes: [UInt8]) -> [UInt32] {
    stride(from: 0, to: bytes.count - bytes.count % 4, by: 4).map { start in
      UInt32(truncatingIfNeeded: bytes[start..<start + 4].bigEndian)
    }
  }
}

extension ArraySlice<UInt8> {
  var bigEndian: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}
