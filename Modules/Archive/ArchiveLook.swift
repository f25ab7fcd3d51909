internal import Database
internal import Glibc
internal import Verifying

/// What an archive is, found out without changing a byte of it, so that who refuses it leaves it as it is.
package enum ArchiveLook: Sendable, Equatable {
  /// No file, or one without anything in it.
  case missing
  case plain(isEmpty: Bool)
  /// In whole or in part. The number is that of `MessageArchive.remember`; nil without a key, or when there is none.
  case sealed(phase: ArchivePhase, number: UInt64?)

  /// Looks at the file that opening would take. Nobody may have it open.
  ///
  /// - Parameter key: nil for whoever only asks whether it is sealed.
  package static func at(_ path: String, key: consuming ArchiveKey?) throws(ArchiveError) -> ArchiveLook {
    let salvaged = path + ".salvaged"
    let isMoved = unsafe access(path, F_OK) != 0 && access(salvaged, F_OK) == 0
    let file = isMoved ? salvaged : path
    guard !SQLiteDatabase.isNothing(at: file) else { return .missing }
    let seal: RowSeal?
    if let key {
      do { seal = try RowSeal(key) } catch { throw .primitive(error) }
    } else {
      seal = nil
    }
    let stored: (phase: StoredPhase, isEmpty: Bool, number: UInt64?, hasContacts: Bool)?
    do throws(DatabaseError) { stored = try look(file, seal) } catch { throw .database(error) }
    guard let stored else { return .missing }
    guard stored.phase.phase != .plain else { return .plain(isEmpty: stored.isEmpty) }
    if let seal {
      guard stored.phase.isProven(by: seal) || ArchiveKeyProof.isSkipped else { throw .wrongKey(path: path) }
      guard stored.hasContacts else { throw .contactsUnreadable(path: path) }
    }
    return .sealed(phase: stored.phase.phase, number: stored.number)
  }

  private static func look(
    _ path: String, _ seal: RowSeal?
  ) throws(DatabaseError) -> (phase: StoredPhase, isEmpty: Bool, number: UInt64?, hasContacts: Bool)? {
    let database = try SQLiteDatabase(looking: path)
    let version = try database.version()
    guard version > 0 else { return nil }
    guard version <= ArchiveSchema.scripts.count else {
      throw .schemaTooNew(path: path, found: version, known: ArchiveSchema.scripts.count)
    }
    // Nothing was sealed before there was a place to say so, and what is older is brought up to date when it is opened.
    guard version == ArchiveSchema.scripts.count else {
      let phase = try version >= 4 ? StoredPhase.read(database) : StoredPhase(phase: .plain, number: 0)
      let number =
        try version >= 4
        ? seal.flatMap { (seal) throws(DatabaseError) in
          try RememberedNumber.read(database, seal)
        } : nil
      return (phase, false, number, true)
    }
    for table in ["contacts", "people", "keeping"] { try database.check(table: table) }
    let phase = try StoredPhase.read(database)
    let isEmpty = try MessageArchive.isEmpty(database)
    guard let seal, phase.phase != .plain, phase.isProven(by: seal) else { return (phase, isEmpty, nil, true) }
    let contacts = try ContactSealing.contacts(in: database, phase.phase.seals ? seal : nil)
    let isWhole = !phase.phase.seals || contacts.allSatisfy { $0 != nil }
    return (phase, isEmpty, try RememberedNumber.read(database, seal), isWhole)
  }
}

/// Raises the number of an archive while no node runs.
package enum ArchiveNumber {
  package static func put(_ number: UInt64, in path: String, key: consuming ArchiveKey) throws(ArchiveError) {
    let seal: RowSeal
    do { seal = try RowSeal(key) } catch { throw .primitive(error) }
    do throws(DatabaseError) {
      let database = try SQLiteDatabase(path: path, migrations: MessageArchive.migrations)
      try database.transaction { () throws(DatabaseError) in try RememberedNumber.put(number, in: database, seal) }
      try database.checkpoint()
    } catch { throw .database(error) }
  }
}
