internal import Bytes
internal import Database
internal import Identities
internal import Sessions

/// Contacts and cards as rows, sealed when there is a seal and plain when there is none. Their tables are never mixed:
/// they change sides whole, in one transaction.
enum ContactSealing {
  struct Kept {
    var contact: Contact
    var used: Int64
  }

  static func put(
    _ contact: Contact, used: Int64, in database: SQLiteDatabase, _ seal: RowSeal?
  ) throws(DatabaseError) {
    let values: [DatabaseValue]
    if let seal {
      let token = try seal.token(peer: contact.peer)
      values = [
        .blob(token), "", "", 0, nil, .integer(used),
        .blob(try seal.seal(ContactContent.encode(contact), at: .contact(peer: token, used: used))),
      ]
    } else {
      values = [
        .blob(contact.peer.bytes), .text(contact.name.text), .text(contact.state.rawValue),
        .integer(Int64(ContactContent.flags(contact))),
        .optional(contact.rivals.isEmpty ? nil : contact.rivals.flatMap(\.bytes)), .integer(used), nil,
      ]
    }
    try database.execute(
      """
      INSERT INTO people (peer, name, state, blocked, rival, used, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (peer) DO UPDATE SET name = excluded.name, state = excluded.state, blocked = excluded.blocked,
        rival = excluded.rival, used = excluded.used, sealed = excluded.sealed
      """, values)
  }

  /// Nil for each that does not open or that no build of ours has written.
  static func contacts(in database: SQLiteDatabase, _ seal: RowSeal?) throws(DatabaseError) -> [Kept?] {
    var opened: [UInt8] = []
    let found = try database.rows(
      "SELECT peer, name, state, blocked, rival, used, sealed FROM people", limit: ArchiveLimits.contacts + 1
    ) { (row) throws(DatabaseError) -> Kept? in
      let used = try row.integer(5)
      if let seal {
        guard !row.isNull(6) else { return nil }
        let place = RowPlace.contact(peer: try row.blob(0), used: used)
        let isOpen = try row.withBlob(6) { (sealed) throws(DatabaseError) in seal.open(sealed, at: place, into: &opened)
        }
        return isOpen ? ContactContent.decode(opened).map { Kept(contact: $0, used: used) } : nil
      }
      guard let peer = PeerID(bytes: try row.blob(0)), let name = try? PeerName(try row.text(1)),
        let state = ContactState(rawValue: try row.text(2))
      else { return nil }
      let contact = ContactContent.contact(
        peer: peer, name: name, state: state, flags: try row.integer(3), rivals: row.isNull(4) ? [] : try row.blob(4))
      return Kept(contact: contact, used: used)
    }
    // More than any session keeps: nobody who was blocked may be among those left out.
    guard found.count <= ArchiveLimits.contacts else { throw .corrupt(path: database.path, code: 0) }
    return found
  }

  static func put(
    _ card: [UInt8], of peer: PeerID, saved: Int64, in database: SQLiteDatabase, _ seal: RowSeal?
  ) throws(DatabaseError) {
    let values: [DatabaseValue]
    if let seal {
      let token = try seal.token(peer: peer)
      let content = peer.bytes + card
      values = [
        .blob(token), .blob([]), .integer(saved), .blob(try seal.seal(content, at: .card(peer: token, saved: saved))),
      ]
    } else {
      values = [.blob(peer.bytes), .blob(card), .integer(saved), nil]
    }
    try database.execute(
      """
      INSERT INTO contacts (peer, card, saved, sealed) VALUES (?, ?, ?, ?)
      ON CONFLICT (peer) DO UPDATE SET card = excluded.card, saved = excluded.saved, sealed = excluded.sealed
      """, values)
  }

  private struct Card {
    var peer: PeerID
    var bytes: [UInt8]
    var saved: Int64
  }

  static func cards(
    in database: SQLiteDatabase, _ seal: RowSeal?, limit: Int
  ) throws(DatabaseError) -> (cards: [[UInt8]], unreadable: Int) {
    let rows = try readCards(in: database, seal, limit: limit)
    return (rows.compactMap { $0?.bytes }, rows.count { $0 == nil })
  }

  private static func readCards(
    in database: SQLiteDatabase, _ seal: RowSeal?, limit: Int
  ) throws(DatabaseError) -> [Card?] {
    var opened: [UInt8] = []
    return try database.rows(
      """
      SELECT peer, card, saved, sealed FROM contacts
      ORDER BY (peer IN (SELECT peer FROM people)) DESC, saved DESC LIMIT ?
      """, [.integer(Int64(limit))], limit: limit
    ) { (row) throws(DatabaseError) -> Card? in
      let saved = try row.integer(2)
      guard let seal else {
        guard let peer = PeerID(bytes: try row.blob(0)) else { return nil }
        return Card(peer: peer, bytes: try row.blob(1), saved: saved)
      }
      guard !row.isNull(3) else { return nil }
      let place = RowPlace.card(peer: try row.blob(0), saved: saved)
      let isOpen = try row.withBlob(3) { (sealed) throws(DatabaseError) in seal.open(sealed, at: place, into: &opened) }
      guard isOpen, opened.count >= PeerID.byteCount, let peer = PeerID(bytes: Array(opened[..<PeerID.byteCount]))
      else {
        return nil
      }
      return Card(peer: peer, bytes: Array(opened[PeerID.byteCount...]), saved: saved)
    }
  }

  /// All contacts and cards, from plain to sealed. Inside a transaction.
  static func seal(_ database: SQLiteDatabase, _ seal: RowSeal) throws(DatabaseError) {
    try move(database, from: nil, to: seal)
  }

  /// And back.
  static func unseal(_ database: SQLiteDatabase, _ seal: RowSeal) throws(DatabaseError) {
    try move(database, from: seal, to: nil)
  }

  /// One row that cannot be read, and nothing is moved.
  private static func move(
    _ database: SQLiteDatabase, from source: RowSeal?, to target: RowSeal?
  ) throws(DatabaseError) {
    func name(_ peer: PeerID) throws(DatabaseError) -> DatabaseValue {
      .blob(try source?.token(peer: peer) ?? peer.bytes)
    }
    for kept in try contacts(in: database, source) {
      guard let kept else { throw .corrupt(path: database.path, code: 0) }
      try database.execute("DELETE FROM people WHERE peer = ?", [try name(kept.contact.peer)])
      try put(kept.contact, used: kept.used, in: database, target)
    }
    for card in try readCards(in: database, source, limit: ArchiveLimits.contacts + ArchiveLimits.strangers) {
      guard let card else { throw .corrupt(path: database.path, code: 0) }
      try database.execute("DELETE FROM contacts WHERE peer = ?", [try name(card.peer)])
      try put(card.bytes, of: card.peer, saved: card.saved, in: database, target)
    }
  }
}
