internal import Database
package import Sessions

extension MessageArchive {
  package var sealing: ArchiveSealing {
    ArchiveSealing(
      phase: phase, done: phaseNumber, total: (try? highestNumber()) ?? phaseNumber, leftPlain: leftPlain)
  }

  /// Seals the next group of messages, or, when all are, writes the file anew so that no page and no log holds what stood
  /// there in plain; only that takes long. Each call is one transaction: a kill leaves rows of both kinds, which are
  /// read, and the next call goes on where the last one ended.
  ///
  /// What the file system keeps of blocks that the file no longer uses is out of its reach.
  package func sealNext() async throws(SessionStoreError) -> ArchiveSealing {
    try guarded { () throws(DatabaseError) in
      guard let seal else { return }
      switch phase {
      case .plain, .unsealing:
        try turn(to: .sealing, number: 0) { () throws(DatabaseError) in
          try ContactSealing.seal(database, seal)
          try SeenSealing.turn(in: database, from: nil, to: seal)
        }
      case .sealing: try moveGroup(isSealing: true, after: .scrubbing, seal)
      case .scrubbing:
        try database.rebuild()
        try database.checkpoint()
        try turn(to: .sealed, number: phaseNumber) {}
        try database.checkpoint()
      case .sealed: break
      }
    }
    return sealing
  }

  /// The way back, for the time in which the plain store may still be returned to. Opens the next group of messages;
  /// with the last one the archive is plain, and can be opened without a key.
  package func unsealNext() async throws(SessionStoreError) -> ArchiveSealing {
    try guarded { () throws(DatabaseError) in
      guard let seal else { return }
      switch phase {
      case .plain: break
      case .unsealing: try moveGroup(isSealing: false, after: .plain, seal)
      case .sealing, .scrubbing, .sealed:
        try turn(to: .unsealing, number: 0) { () throws(DatabaseError) in
          try ContactSealing.unseal(database, seal)
          try SeenSealing.turn(in: database, from: seal, to: nil)
        }
      }
    }
    return sealing
  }

  /// Seals everything, in groups between which others are let at the archive.
  package nonisolated func sealAll(
    _ progress: (ArchiveSealing) -> Void = { _ in }
  ) async throws(SessionStoreError) -> ArchiveSealing {
    while true {
      let sealing = try await sealNext()
      progress(sealing)
      if sealing.phase == .sealed || sealing.phase == .plain { return sealing }
    }
  }

  /// Opens everything for good, in groups.
  package nonisolated func unsealAll(
    _ progress: (ArchiveSealing) -> Void = { _ in }
  ) async throws(SessionStoreError) -> ArchiveSealing {
    while true {
      let sealing = try await unsealNext()
      progress(sealing)
      if sealing.phase == .plain { return sealing }
    }
  }

  private func turn(
    to next: ArchivePhase, number: Int64, _ body: () throws(DatabaseError) -> Void
  ) throws(DatabaseError) {
    guard let seal else { return }
    try database.transaction { () throws(DatabaseError) in
      try body()
      try StoredPhase(phase: next, number: number).write(to: database, seal)
    }
    (phase, phaseNumber) = (next, number)
  }

  /// Rows that cannot be read stay as they are and are counted; a plain one is no row once all is sealed.
  private func moveGroup(isSealing: Bool, after: ArchivePhase, _ seal: RowSeal) throws(DatabaseError) {
    let former = (phase, phaseNumber)
    do throws(DatabaseError) {
      try database.transaction { () throws(DatabaseError) in
        var rows: [Row] = []
        var last = phaseNumber
        var (seen, left) = (0, 0)
        try database.each(
          "SELECT \(ArchiveSchema.messageColumns) FROM messages WHERE number > ? ORDER BY number LIMIT ?",
          [.integer(phaseNumber), .integer(Int64(ArchiveLimits.sealingStep))]
        ) { (row) throws(DatabaseError) in
          last = try row.integer(0)
          seen += 1
          guard row.isNull(13) == isSealing else { return true }
          if let message = try read(row) {
            rows.append(Row(number: last, message: message))
          } else if isSealing {
            left += 1
          }
          return true
        }
        for row in rows { try replace(row, isSealed: isSealing) }
        let isLast = seen < ArchiveLimits.sealingStep
        let next = StoredPhase(phase: isLast ? after : phase, number: last)
        try next.write(to: database, seal)
        (phase, phaseNumber) = (next.phase, next.number)
        leftPlain += left
      }
    } catch {
      (phase, phaseNumber) = former
      throw error
    }
  }

  func highestNumber() throws(DatabaseError) -> Int64 {
    try database.first("SELECT coalesce(max(number), 0) FROM messages") { (row) throws(DatabaseError) in
      try row.integer(0)
    } ?? 0
  }
}
