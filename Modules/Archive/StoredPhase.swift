internal import Bytes
internal import Database

/// The phase as it is kept: its name, the number of the last message dealt with, and a proof that somebody with the key
/// wrote it, which is the store's check that a key is its own as well.
struct StoredPhase {
  var phase: ArchivePhase
  var number: Int64
  private var proof: [UInt8] = []

  init(phase: ArchivePhase, number: Int64) {
    self.phase = phase
    self.number = number
  }

  static func read(_ database: SQLiteDatabase) throws(DatabaseError) -> StoredPhase {
    var stored = StoredPhase(phase: .plain, number: 0)
    try database.each("SELECT name, value FROM keeping WHERE name IN ('phase', 'phase-number', 'phase-proof')") {
      (row) throws(DatabaseError) in
      switch try row.text(0) {
      case "phase":
        guard let phase = ArchivePhase(rawValue: try row.text(1)) else { throw .column(index: 1, expected: "a phase") }
        stored.phase = phase
      case "phase-number": stored.number = try row.integer(1)
      default: stored.proof = try row.blob(1)
      }
      return true
    }
    return stored
  }

  func isProven(by seal: RowSeal) -> Bool {
    var opened: [UInt8] = []
    return seal.open(proof.rawSpan, at: .phase(phase.rawValue), into: &opened)
  }

  /// Inside the transaction of what it says.
  func write(to database: SQLiteDatabase, _ seal: RowSeal) throws(DatabaseError) {
    let proof = phase == .plain ? [] : try seal.seal([], at: .phase(phase.rawValue))
    for (name, value) in [
      ("phase", DatabaseValue.text(phase.rawValue)), ("phase-number", .integer(number)), ("phase-proof", .blob(proof)),
    ] {
      try database.execute(
        "INSERT INTO keeping (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [.text(name), value])
    }
  }
}
