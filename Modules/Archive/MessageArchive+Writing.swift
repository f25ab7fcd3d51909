internal import Database
internal import Identities
internal import Sessions

/// A change of one message.
enum MessageWrite: Sendable {
  case insert(StoredMessage)
  /// A new state, and a packet where there is one.
  case change(MessageID, PeerID, MessageState, packet: [UInt8]?)
}

/// A write and whoever waits for its answer.
struct GatheredWrite {
  var write: MessageWrite
  var answer: CheckedContinuation<Result<Bool, SessionStoreError>, Never>
}

extension MessageArchive {
  /// Makes the write together with all that are asked for meanwhile: the first steps aside once, so that those behind it
  /// are there too, and then makes all of them in one transaction with one sync. Everybody is answered after the
  /// commit. When the transaction fails, each is made by itself, so that one cannot fail another.
  ///
  /// While the disk syncs, the next writes wait at the door of the archive, which makes them the next group.
  func grouped(_ write: MessageWrite) async throws(SessionStoreError) -> Bool {
    if isGathering, gathered.count < ArchiveLimits.groupedWrites {
      return try await withCheckedContinuation { gathered.append(GatheredWrite(write: write, answer: $0)) }.get()
    }
    if isGathering { return try written { () throws(DatabaseError) in try perform(write) } }
    isGathering = true
    await Task.yield()
    let others = gathered
    gathered = []
    isGathering = false
    let results = commit([write] + others.map(\.write))
    for (other, result) in zip(others, results.dropFirst()) { other.answer.resume(returning: result) }
    return try results[0].get()
  }

  private func commit(_ writes: [MessageWrite]) -> [Result<Bool, SessionStoreError>] {
    do throws(DatabaseError) {
      return try database.transaction(.promised) { () throws(DatabaseError) in
        var results: [Result<Bool, SessionStoreError>] = []
        for write in writes { results.append(.success(try perform(write))) }
        return results
      }
    } catch {
      guard writes.count > 1 else { return [.failure(SessionStoreError(error))] }
      return writes.map { write in
        do throws(SessionStoreError) {
          return .success(try written { () throws(DatabaseError) in try perform(write) })
        } catch {
          return .failure(error)
        }
      }
    }
  }

  private func perform(_ write: MessageWrite) throws(DatabaseError) -> Bool {
    switch write {
    case .insert(let message):
      let isNew = try put(message)
      insertsSinceTrim += 1
      if insertsSinceTrim >= ArchiveLimits.trimStep {
        insertsSinceTrim = 0
        try database.execute(
          """
          DELETE FROM messages WHERE number <= (SELECT max(number) FROM messages) - ?
            AND state NOT IN ('waiting', 'accepted')
          """, [.integer(Int64(ArchiveLimits.messages))])
      }
      return isNew
    case .change(let id, let author, let state, let packet):
      return try change(id, author, state, packet)
    }
  }

  private func put(_ message: StoredMessage) throws(DatabaseError) -> Bool {
    if phase.isMixed, let seal {
      // The one that is there may be of the other kind.
      let (author, id) =
        phase.seals
        ? (message.author.bytes, message.id.bytes)
        : (try seal.token(author: message.author, id: message.id), try seal.token(id: message.id))
      let twin = try database.first(
        "SELECT 1 FROM messages WHERE author = ? AND message = ?", [.blob(author), .blob(id)]
      ) { (row) throws(DatabaseError) in try row.integer(0) }
      guard twin == nil else { return false }
    }
    let last =
      try database.first("SELECT seq FROM sqlite_sequence WHERE name = 'messages'") { (row) throws(DatabaseError) in
        try row.integer(0)
      } ?? 0
    guard last < Int64.max else { throw .full(path: database.path) }
    try database.execute(
      "INSERT INTO messages (\(ArchiveSchema.messageColumns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        + "ON CONFLICT DO NOTHING", try values(of: message, number: last + 1, isSealed: phase.seals))
    return database.changedRows == 1
  }

  private func change(
    _ id: MessageID, _ author: PeerID, _ state: MessageState, _ packet: [UInt8]?
  ) throws(DatabaseError) -> Bool {
    let names = try tokens(plain: author.bytes) { (seal) throws(DatabaseError) in
      try seal.token(author: author, id: id)
    }
    let ids = try tokens(plain: id.bytes) { (seal) throws(DatabaseError) in try seal.token(id: id) }
    for (name, id) in zip(names, ids) {
      let found = try read("WHERE author = ? AND message = ?", [.blob(name), .blob(id)], limit: 1) { _ in true }
      guard var row = found.first else { continue }
      row.message.state = state
      if let packet { row.message.packet = packet }
      try replace(row, isSealed: name != author.bytes)
      return true
    }
    return false
  }

  /// Writes the row in place of the one of its number.
  func replace(_ row: Row, isSealed: Bool) throws(DatabaseError) {
    try database.execute(
      """
      UPDATE messages SET author = ?2, message = ?3, peer = ?4, author_name = ?5, flags = ?6, text = ?7, sent = ?8,
        stored = ?9, hops = ?10, path = ?11, state = ?12, packet = ?13, sealed = ?14 WHERE number = ?1
      """, try values(of: row.message, number: row.number, isSealed: isSealed))
  }

  private func values(
    of message: StoredMessage, number: Int64, isSealed: Bool
  ) throws(DatabaseError) -> [DatabaseValue] {
    guard isSealed, let seal else {
      return [
        .integer(number), .blob(message.author.bytes), .blob(message.id.bytes),
        .optional(message.conversation.peer?.bytes), .text(message.authorName),
        .integer((message.isFromBot ? 1 : 0) | (message.isEcho ? 2 : 0) | (message.isLate ? 4 : 0)),
        .text(message.text),
        .bits(message.sentMilliseconds), .bits(message.storedMilliseconds), .integer(Int64(message.hops)),
        .blob(message.pathBytes), .text(message.state.rawValue), .optional(message.packet), nil,
      ]
    }
    let author = try seal.token(author: message.author, id: message.id)
    let id = try seal.token(id: message.id)
    let place = RowPlace.message(
      number: number, author: author, message: id, stored: message.storedMilliseconds, state: message.state.rawValue)
    return [
      .integer(number), .blob(author), .blob(id), nil, "", 0, "", 0, .bits(message.storedMilliseconds), 0, .blob([]),
      .text(message.state.rawValue), nil, .blob(try seal.seal(MessageContent.encode(message), at: place)),
    ]
  }
}
