internal import Database
package import Sessions

/// A group of packets that the relay has seen, in the relay's own form.
package struct SeenRow: Sendable, Equatable {
  package var number: Int64
  /// Nil when it did not open.
  package var content: [UInt8]?

  package init(number: Int64, content: [UInt8]?) {
    self.number = number
    self.content = content
  }
}

extension MessageArchive {
  /// Appends groups of packets seen, and removes those whose number is below `firstKept`, in one transaction.
  ///
  /// It survives the death of the process; a loss of power may take it, unless it is `isPromised`: then the node would
  /// know a little less of what it has seen, and no message is lost or shown twice for that.
  package func appendSeen(
    _ groups: [(number: Int64, content: [UInt8])], firstKept: Int64, isPromised: Bool
  ) async throws(SessionStoreError) {
    try guarded { () throws(DatabaseError) in
      try database.transaction(isPromised ? .promised : .relaxed) { () throws(DatabaseError) in
        try database.execute("DELETE FROM seen WHERE number < ?", [.integer(firstKept)])
        for group in groups {
          try SeenSealing.put(group.content, number: group.number, in: database, phase.seals ? seal : nil)
        }
      }
    }
  }

  /// Groups of packets seen whose number is below `number`, highest first; from the highest on without one.
  package func seenRows(below number: Int64?, limit: Int) async throws(SessionStoreError) -> [SeenRow] {
    try guarded { () throws(DatabaseError) in
      try SeenSealing.rows(below: number, limit: limit, in: database, phase.seals ? seal : nil)
    }
  }
}

/// Groups of packets seen as rows: sealed when there is a seal and plain when there is none, never mixed. They change
/// sides whole, with contacts and cards.
enum SeenSealing {
  static func put(
    _ content: [UInt8], number: Int64, in database: SQLiteDatabase, _ seal: RowSeal?
  ) throws(DatabaseError) {
    let kept = try seal?.seal(content, at: .seen(number: number)) ?? content
    try database.execute(
      "INSERT INTO seen (number, content) VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET content = excluded.content",
      [.integer(number), .blob(kept)])
  }

  static func rows(
    below number: Int64?, limit: Int, in database: SQLiteDatabase, _ seal: RowSeal?
  ) throws(DatabaseError) -> [SeenRow] {
    var opened: [UInt8] = []
    return try database.rows(
      "SELECT number, content FROM seen WHERE number < ? OR ? ORDER BY number DESC LIMIT ?",
      [.integer(number ?? 0), .integer(number == nil ? 1 : 0), .integer(Int64(limit))], limit: limit
    ) { (row) throws(DatabaseError) in
      let number = try row.integer(0)
      do throws(DatabaseError) {
        guard let seal else { return SeenRow(number: number, content: try row.blob(1)) }
        let isOpen = try row.withBlob(1) { (sealed) throws(DatabaseError) in
          seal.open(sealed, at: .seen(number: number), into: &opened)
        }
        return SeenRow(number: number, content: isOpen ? opened : nil)
      } catch {
        guard case .column = error else { throw error }
        return SeenRow(number: number, content: nil)
      }
    }
  }

  /// Brings all rows to the other side, within a transaction of the caller. One that does not open is removed: it says
  /// nothing to anybody.
  static func turn(in database: SQLiteDatabase, from former: RowSeal?, to next: RowSeal?) throws(DatabaseError) {
    var below: Int64?
    while true {
      let rows = try rows(below: below, limit: ArchiveLimits.seenSlice, in: database, former)
      for row in rows {
        if let content = row.content {
          try put(content, number: row.number, in: database, next)
        } else {
          try database.execute("DELETE FROM seen WHERE number = ?", [.integer(row.number)])
        }
      }
      guard let last = rows.last, rows.count == ArchiveLimits.seenSlice else { return }
      below = last.number
    }
  }
}
