import Database
import PowerCuts
import Testing

/// SQLite on a disk that can be cut.
@Suite struct CutDiskTests {
  private static let schema = ["CREATE TABLE numbers (number INTEGER PRIMARY KEY)"]

  private func open(_ disk: CutDisk) throws(DatabaseError) -> SQLiteDatabase {
    try SQLiteDatabase(path: disk.directory + "/numbers.db", migrations: Self.schema, on: disk)
  }

  private func numbers(_ state: DiskState) throws -> [Int64] {
    let disk = CutDisk(state)
    defer { disk.cut() }
    return try open(disk).rows("SELECT number FROM numbers ORDER BY number", limit: 100) { row throws(DatabaseError) in
      try row.integer(0)
    }
  }

  @Test func whatWasPromisedIsThereAfterACutAndWhatIsInFlightIsWholeOrNot() throws {
    let disk = CutDisk()
    let database = try open(disk)
    try database.execute("INSERT INTO numbers VALUES (1), (2)")
    let promised = disk.snapshot
    try database.execute("INSERT INTO numbers VALUES (3), (4)")
    for leftover in [Leftover.nothing, .everything] + (0..<20).map({ .some(seed: $0) }) {
      #expect(try numbers(promised.afterCut(leftover)) == [1, 2], "\(leftover)")
      #expect(try numbers(disk.snapshot.afterCut(leftover)) == [1, 2, 3, 4], "\(leftover)")
    }
    disk.cut()
  }

  @Test func diskThatIsOffFailsEverything() throws {
    let disk = CutDisk()
    let database = try open(disk)
    try database.execute("INSERT INTO numbers VALUES (1)")
    let count = disk.operationCount
    disk.cut(at: count + 1)
    #expect(throws: DatabaseError.self) { try database.execute("INSERT INTO numbers VALUES (2)") }
    #expect(throws: DatabaseError.self) { try open(disk) }
    #expect(disk.operationCount == count + 1)
    #expect(try numbers(disk.snapshot.afterCut(.everything)) == [1])
  }

  @Test func withoutTheSyncOfTheLogAPromiseIsBroken() throws {
    let disk = CutDisk(withoutSync: { $0.hasSuffix("-wal") })
    let database = try open(disk)
    try database.checkpoint()
    try database.execute("INSERT INTO numbers VALUES (1)")
    #expect((try? numbers(disk.snapshot.afterCut(.nothing))) != [1])
    disk.cut()
  }

  @Test func faultIsAnErrorOnceAndAFullDiskStaysFull() throws {
    for fault in CutDisk.Fault.allCases {
      let disk = CutDisk()
      let database = try open(disk)
      try database.execute("INSERT INTO numbers VALUES (1)")
      // The first call of a write may be a read that only EIO fails.
      var failed = 0
      for call in disk.callCount..<(disk.callCount + 4) {
        disk.inject(fault, atCall: call)
        do { try database.execute("INSERT INTO numbers VALUES (\(10 + call))") } catch { failed += 1 }
      }
      #expect(failed > 0 && disk.faultCount > 0, "\(fault)")
      if fault == .full {
        #expect(throws: DatabaseError.full(path: database.path)) {
          try database.execute("INSERT INTO numbers VALUES (2)")
        }
      }
      disk.heal()
      try database.execute("INSERT INTO numbers VALUES (3)")
      #expect(try numbers(disk.snapshot.afterCut(.nothing)).contains(3), "\(fault)")
      disk.cut()
    }
  }
}
