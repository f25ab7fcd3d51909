internal import Database
internal import Identities
package import Sessions

/// A place in the history: the number of a message, which rises with the order in which messages were kept.
package struct ArchiveCursor: Sendable, Hashable, Comparable {
  package let number: Int64

  package init(number: Int64) { self.number = number }

  package static func < (one: ArchiveCursor, other: ArchiveCursor) -> Bool { one.number < other.number }
}

/// A message and its place.
package struct ArchivedMessage: Sendable, Equatable {
  package var cursor: ArchiveCursor
  package var message: StoredMessage
}

/// Part of a walk through the history.
package struct ArchivePage: Sendable, Equatable {
  package var messages: [ArchivedMessage]
  /// Where to go on; nil at the end.
  package var next: ArchiveCursor?
  /// Messages between the first and the last looked at that could not be read, as far as their numbers tell.
  package var unreadable: UInt64 = 0
}

extension MessageArchive {
  /// Messages kept after a place, oldest first; without those that a blocked contact wrote, unless `withBlocked`.
  ///
  /// - Parameter limit: rows read, at most `ArchiveLimits.replaySlice`; a page may hold fewer messages and not be the
  ///   last.
  package func messages(
    after cursor: ArchiveCursor?, limit: Int, withBlocked: Bool = false
  ) async throws(SessionStoreError) -> ArchivePage {
    try guarded { () throws(DatabaseError) in
      let blocked = withBlocked ? [] : try blockedPeers()
      return try page(
        HistoryWalk(.rising, beyond: cursor?.number), Self.rising, rows: min(max(1, limit), ArchiveLimits.replaySlice)
      ) { (row) throws(DatabaseError) in
        guard let message = try read(row), isShown(message, blocked) else { return nil }
        return message
      }
    }
  }

  static let rising =
    "SELECT \(ArchiveSchema.messageColumns) FROM messages WHERE number >= ? ORDER BY number LIMIT ?"
  private static let falling =
    "SELECT \(ArchiveSchema.messageColumns) FROM messages WHERE number <= ? ORDER BY number DESC LIMIT ?"

  /// - Parameters:
  ///   - limit: ends the page when so many messages were taken.
  ///   - taken: nil for a row that is not wanted, or that does not open, which it has counted then.
  private func page(
    _ start: HistoryWalk, _ sql: String, rows: Int, limit: Int = .max,
    _ taken: (borrowing DatabaseRow) throws(DatabaseError) -> StoredMessage?
  ) throws(DatabaseError) -> ArchivePage {
    var (walk, page) = (start, ArchivePage(messages: [], next: nil))
    let before = unreadableRows
    try walk.run(database, sql, limit: rows) { (row) throws(DatabaseError) in
      guard let message = try taken(row) else { return true }
      page.messages.append(ArchivedMessage(cursor: ArchiveCursor(number: try row.integer(0)), message: message))
      return page.messages.count < limit
    }
    note(walk.damage)
    page.next = walk.next.map { ArchiveCursor(number: $0) }
    page.unreadable = UInt64(unreadableRows - before) + (walk.damage?.numbers ?? 0)
    return page
  }

  /// Kept for whoever asks how the history is.
  func note(_ met: ArchiveDamage?) {
    guard let met else { return }
    if damage == nil { damage = met } else { damage?.join(met) }
  }

  /// Every message as a line of JSON (`MessageLine`), oldest first, those of blocked contacts too. Holds one slice at a
  /// time, and lets others at the archive between two; what is kept meanwhile is in it.
  ///
  /// - Parameter line: is given each line without its end; false ends the export.
  /// - Returns: how many lines there were, and how many messages could not be read.
  package nonisolated func export(
    after cursor: ArchiveCursor? = nil, _ line: (String) async -> Bool
  ) async throws(SessionStoreError) -> (lines: Int, unreadable: UInt64) {
    var (next, count, unreadable) = (cursor, 0, UInt64(0))
    repeat {
      let page = try await messages(after: next, limit: ArchiveLimits.replaySlice, withBlocked: true)
      unreadable += page.unreadable
      for found in page.messages {
        count += 1
        guard await line(MessageLine.text(of: found)) else { return (count, unreadable) }
      }
      next = page.next
    } while next != nil
    return (count, unreadable)
  }

  // MARK: Search

  /// Messages in which the words stand, newest first; without those that a blocked contact wrote.
  ///
  /// - Parameters:
  ///   - conversation: nil for all.
  ///   - cursor: only what is older.
  package nonisolated func search(
    _ words: SearchWords, in conversation: Conversation? = nil, before cursor: ArchiveCursor? = nil, limit: Int
  ) -> HistorySearch {
    HistorySearch(archive: self, words: words, conversation: conversation, before: cursor, limit: limit)
  }

  /// One slice of a search: opens at most `ArchiveLimits.searchSlice` rows, and ends early with `limit` messages.
  package func searchSlice(
    _ words: SearchWords, in conversation: Conversation?, before cursor: ArchiveCursor?, limit: Int
  ) async throws(SessionStoreError) -> ArchivePage {
    try guarded { () throws(DatabaseError) in
      let blocked = try blockedPeers()
      var lowered: [UInt8] = []
      return try page(
        HistoryWalk(.falling, beyond: cursor?.number), Self.falling, rows: ArchiveLimits.searchSlice, limit: limit
      ) { (row) throws(DatabaseError) in
        guard let message = try matching(row, words, &lowered),
          conversation.map({ $0 == message.conversation }) ?? true, isShown(message, blocked)
        else { return nil }
        return message
      }
    }
  }

  /// Decodes only what matches.
  private func matching(
    _ row: borrowing DatabaseRow, _ words: SearchWords, _ lowered: inout [UInt8]
  ) throws(DatabaseError) -> StoredMessage? {
    guard !row.isNull(13) else {
      guard let message = try read(row) else { return nil }
      let text = Array(message.text.utf8)
      return words.match(text, 0..<text.count, &lowered) ? message : nil
    }
    guard try open(row), let range = MessageContent.text(of: opened),
      let state = MessageState(rawValue: try row.text(11))
    else {
      unreadableRows += 1
      return nil
    }
    guard words.match(opened, range, &lowered) else { return nil }
    return MessageContent.decode(opened, stored: try row.bits(8), state: state)
  }
}
