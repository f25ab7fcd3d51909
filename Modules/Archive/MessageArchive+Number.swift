internal import Bytes
internal import Database
package import Sessions

/// A number that the owner raises, under seal, by which an archive that was put back from a copy is noticed.
extension MessageArchive {
  /// Durable when it returns. Nothing without a key.
  package func remember(number: UInt64) async throws(SessionStoreError) {
    guard let seal else { return }
    try written { () throws(DatabaseError) in try RememberedNumber.put(number, in: database, seal) }
  }

  /// What `remember` has kept last: nil when there is none, 0 when what is there does not open. Writes nothing.
  package func rememberedNumber() async throws(SessionStoreError) -> UInt64? {
    guard let seal else { return nil }
    return try guarded { () throws(DatabaseError) in try RememberedNumber.read(database, seal) }
  }

  /// Rises with everything that is written.
  package func writes() -> UInt64 { database.bytesLogged }

  /// Copies the log back into the file, so that the file alone is the whole archive.
  package func checkpoint() async throws(SessionStoreError) {
    try guarded { () throws(DatabaseError) in try database.checkpoint() }
  }
}

/// The number as a row of `keeping`. Its name is that of the first builds, which counted openings alone.
enum RememberedNumber {
  private static let place = RowPlace.phase("opening")

  static func put(_ number: UInt64, in database: SQLiteDatabase, _ seal: RowSeal) throws(DatabaseError) {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: number)
    try database.execute(
      """
      INSERT INTO keeping (name, value) VALUES ('opening', ?)
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """, [.blob(try seal.seal(bytes, at: place))])
  }

  static func read(_ database: SQLiteDatabase, _ seal: RowSeal) throws(DatabaseError) -> UInt64? {
    let kept = try database.first("SELECT value FROM keeping WHERE name = 'opening'") { (row) throws(DatabaseError) in
      try row.blob(0)
    }
    guard let kept else { return nil }
    var opened: [UInt8] = []
    guard seal.open(kept.rawSpan, at: place, into: &opened) else { return 0 }
    return opened.rawSpan.number(UInt64.self, at: 0)
  }
}
