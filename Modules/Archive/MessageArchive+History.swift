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
      let limit = min(max(1, limit), ArchiveLimits.replaySlice)
      return try page(
        "WHERE number > ? ORDER BY number LIMIT ?", [.integer(cursor?.number ?? 0), .integer(Int64(limit))],
        limit: limit
      ) { isShown($0, blocked) }
    }
  }

  private func page(
    _ rest: String, _ values: [DatabaseValue], limit: Int, _ isTaken: (StoredMessage) -> Bool
  ) throws(DatabaseError) -> ArchivePage {
    var page = ArchivePage(messages: [], next: nil)
    var (seen, last) = (0, Int64(0))
    try database.each("SELECT \(ArchiveSchema.messageColumns) FROM messages \(rest)", values) {
      (row) throws(DatabaseError) in
      seen += 1
      last = try row.integer(0)
      if let message = try read(row), isTaken(message) {
        page.messages.append(ArchivedMessage(cursor: ArchiveCursor(number: last), message: message))
      }
      return true
    }
    if seen == limit { page.next = ArchiveCursor(number: last) }
    return page
  }

  /// Every message as a line of JSON (`MessageLine`), oldest first, those of blocked contacts too. Holds one slice at a
  /// time, and lets others at the archive between two; what is kept meanwhile is in it.
  ///
  /// - Parameter line: is given each line without its end; false ends the export.
  /// - Returns: how many lines there were.
  package nonisolated func export(
    after cursor: ArchiveCursor? = nil, _ line: (String) async -> Bool
  ) async throws(SessionStoreError) -> Int {
    var (next, count) = (cursor, 0)
    repeat {
      let page = try await messages(after: next, limit: ArchiveLimits.replaySlice, withBlocked: true)
      for found in page.messages {
        count += 1
        guard await line(MessageLine.text(of: found)) else { return count }
      }
      next = page.next
    } while next != nil
    return count
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
      var page = ArchivePage(messages: [], next: nil)
      var (seen, last) = (0, Int64(0))
      var lowered: [UInt8] = []
      try database.each(
        "SELECT \(ArchiveSchema.messageColumns) FROM messages WHERE number < ? ORDER BY number DESC LIMIT ?",
        [.integer(cursor?.number ?? .max), .integer(Int64(ArchiveLimits.searchSlice))]
      ) { (row) throws(DatabaseError) in
        seen += 1
        last = try row.integer(0)
        let message = try matching(row, words, &lowered)
        guard let message, conversation.map({ $0 == message.conversation }) ?? true,
          isShown(message, blocked)
        else { return true }
        page.messages.append(ArchivedMessage(cursor: ArchiveCursor(number: last), message: message))
        return page.messages.count < limit
      }
      if seen == ArchiveLimits.searchSlice || page.messages.count >= limit { page.next = ArchiveCursor(number: last) }
      return page
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
