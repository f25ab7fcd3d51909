internal import Database
package import Sessions

/// How far the messages are checked.
package struct ArchiveCheck: Sendable, Equatable {
  package enum Outcome: Sendable, Equatable {
    case goingOn
    /// Every message was read and opened, and stands in the indices.
    case sound
    /// The file is damaged at or behind a message; `ArchiveSalvage` brings what can be read into a new one.
    case damaged(after: Int64)
  }

  package var outcome: Outcome
  /// Messages read in this round, and those of them that did not open.
  package var checked: Int
  package var unreadable: Int
}

extension MessageArchive {
  /// Reads the next messages whole, opens them and looks them up in both indices by which they are found. The owner calls
  /// it again and again, in the background, until it says something else than `goingOn`; then it begins anew.
  package func checkNext() async throws(SessionStoreError) -> ArchiveCheck {
    let from = checkedNumber
    let before = unreadableRows
    do throws(DatabaseError) {
      var rows: [(number: Int64, author: [UInt8], message: [UInt8])] = []
      var last = from
      try database.each(
        "SELECT \(ArchiveSchema.messageColumns) FROM messages WHERE number > ? ORDER BY number LIMIT ?",
        [.integer(from), .integer(Int64(ArchiveLimits.checkSlice))]
      ) { (row) throws(DatabaseError) in
        last = try row.integer(0)
        _ = try read(row)
        rows.append((last, try row.blob(1), try row.blob(2)))
        return true
      }
      for row in rows {
        let places = try database.rows(
          "SELECT number FROM messages INDEXED BY messages_by_id WHERE message = ? AND number = ?",
          [.blob(row.message), .integer(row.number)], limit: 2
        ) { (row) throws(DatabaseError) in try row.integer(0) }
        let place = try database.first(
          "SELECT number FROM messages INDEXED BY sqlite_autoindex_messages_1 WHERE author = ? AND message = ?",
          [.blob(row.author), .blob(row.message)]
        ) { (row) throws(DatabaseError) in try row.integer(0) }
        guard places == [row.number], place == row.number else { throw .corrupt(path: database.path, code: 0) }
      }
      checkedNumber = last
      checkedCount += rows.count
      let isLast = rows.count < ArchiveLimits.checkSlice
      return ended(isLast ? .sound : .goingOn, unreadable: unreadableRows - before)
    } catch {
      guard case .corrupt = error else { throw SessionStoreError(error) }
      return ended(.damaged(after: from), unreadable: unreadableRows - before)
    }
  }

  private func ended(_ outcome: ArchiveCheck.Outcome, unreadable: Int) -> ArchiveCheck {
    let check = ArchiveCheck(outcome: outcome, checked: checkedCount, unreadable: unreadable)
    if outcome != .goingOn { (checkedNumber, checkedCount) = (0, 0) }
    return check
  }
}
