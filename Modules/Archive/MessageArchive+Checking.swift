internal import Database
package import Sessions

/// How far the messages are checked.
package struct ArchiveCheck: Sendable, Equatable {
  package enum Outcome: Sendable, Equatable {
    case goingOn
    /// Every message was read and opened, and stands in the indices.
    case sound
    /// The file is damaged behind a message; `ArchiveSalvage` brings what can be read into a new one.
    case damaged(after: Int64)
  }

  package var outcome: Outcome
  /// Messages read in this round, and those of them that did not open.
  package var checked: Int
  package var unreadable: Int
}

/// A round of `checkNext`.
struct CheckedSoFar {
  /// The number of the last message that was read.
  var number: Int64 = 0
  var rows = 0
  /// Behind which message the damage begins, when there is any.
  var damagedAfter: Int64?
  /// Nothing is looked up any more in indices that are damaged.
  var isIndexDamaged = false
}

extension MessageArchive {
  /// Reads the next messages whole, opens them and looks them up in both indices by which they are found. The owner calls
  /// it again and again, in the background, until it says something else than `goingOn`; then it begins anew. What is
  /// damaged is stepped over and noted in `damage`.
  package func checkNext() async throws(SessionStoreError) -> ArchiveCheck {
    let before = unreadableRows
    var rows: [(number: Int64, author: [UInt8], message: [UInt8])] = []
    var walk = HistoryWalk(.rising, beyond: checked.number)
    do throws(DatabaseError) {
      try walk.run(database, Self.rising, limit: ArchiveLimits.checkSlice) { (row) throws(DatabaseError) in
        _ = try read(row)
        rows.append((try row.integer(0), try row.blob(1), try row.blob(2)))
        return true
      }
    } catch {
      throw SessionStoreError(error)
    }
    if let met = walk.damage {
      note(met)
      if checked.damagedAfter == nil { checked.damagedAfter = met.first - 1 }
    }
    for row in rows where !checked.isIndexDamaged {
      do throws(DatabaseError) { try lookUp(row.number, row.author, row.message) } catch {
        guard error.isDamage else { throw SessionStoreError(error) }
        checked.isIndexDamaged = true
        if checked.damagedAfter == nil { checked.damagedAfter = row.number - 1 }
      }
    }
    checked.rows += rows.count
    checked.number = walk.next ?? 0
    let outcome: ArchiveCheck.Outcome =
      walk.next != nil ? .goingOn : checked.damagedAfter.map { .damaged(after: $0) } ?? .sound
    let check = ArchiveCheck(outcome: outcome, checked: checked.rows, unreadable: unreadableRows - before)
    if outcome != .goingOn { checked = CheckedSoFar() }
    return check
  }

  /// Throws `corrupt` when a message does not stand in an index, or twice.
  private func lookUp(_ number: Int64, _ author: [UInt8], _ message: [UInt8]) throws(DatabaseError) {
    let places = try database.rows(
      "SELECT number FROM messages INDEXED BY messages_by_id WHERE message = ? AND number = ?",
      [.blob(message), .integer(number)], limit: 2
    ) { (row) throws(DatabaseError) in try row.integer(0) }
    let place = try database.first(
      "SELECT number FROM messages INDEXED BY sqlite_autoindex_messages_1 WHERE author = ? AND message = ?",
      [.blob(author), .blob(message)]
    ) { (row) throws(DatabaseError) in try row.integer(0) }
    guard places == [number], place == number else { throw .corrupt(path: database.path, code: 0) }
  }
}
