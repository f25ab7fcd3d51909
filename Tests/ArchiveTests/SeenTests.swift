import Database
import Sessions
import Testing

@testable import Archive

/// Groups of packets seen, in the archive.
@Suite struct SeenTests {
  let directory = TemporaryDirectory()
  var path: String { directory.path + "/archive.db" }

  private func group(_ number: Int64) -> (number: Int64, content: [UInt8]) {
    (number, [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 300))
  }

  private func row(_ number: Int64) -> SeenRow { SeenRow(number: number, content: group(number).content) }

  @Test(arguments: [false, true]) func groupsComeBackNewestFirstAndTheOldestGo(_ isSealed: Bool) async throws {
    do {
      let archive = try MessageArchive(path: path, key: isSealed ? TestKey.make() : nil)
      for number in 1...6 as ClosedRange<Int64> {
        try await archive.appendSeen([group(number)], firstKept: 1, isPromised: false)
      }
      try await archive.appendSeen([group(7), group(8)], firstKept: 3, isPromised: true)
    }
    let archive = try MessageArchive(path: path, key: isSealed ? TestKey.make() : nil)
    #expect(try await archive.seenRows(below: nil, limit: 4) == [8, 7, 6, 5].map(row))
    #expect(try await archive.seenRows(below: 5, limit: 4) == [4, 3].map(row))
  }

  @Test func groupsAreSealedAndUnsealedWithTheRest() async throws {
    do {
      let archive = try MessageArchive(path: path)
      for number in 1...40 as ClosedRange<Int64> {
        try await archive.appendSeen([group(number)], firstKept: 1, isPromised: false)
      }
      _ = try await archive.insert(TestMessage.make(1))
    }
    do {
      let archive = try MessageArchive(path: path, key: TestKey.make())
      #expect(try await archive.seenRows(below: nil, limit: 50) == (1...40).reversed().map(row))
      #expect(try await archive.sealAll().phase == .sealed)
      let stored = try await archive.storedSeen()
      #expect(stored.count == 40 && stored.allSatisfy { $0.count == 300 + 28 })
    }
    do {
      let archive = try MessageArchive(path: path, key: TestKey.make(), mayBePlain: false)
      #expect(try await archive.unsealAll().phase == .plain)
    }
    let archive = try MessageArchive(path: path)
    #expect(try await archive.seenRows(below: nil, limit: 50) == (1...40).reversed().map(row))
  }

  @Test func aSalvageBringsThemAlong() async throws {
    do {
      let archive = try MessageArchive(path: path, key: TestKey.make())
      try await archive.appendSeen([group(4), group(5)], firstKept: 4, isPromised: true)
    }
    _ = try ArchiveSalvage.run(path: path, wall: 1)
    let archive = try MessageArchive(path: path, key: TestKey.make())
    #expect(try await archive.seenRows(below: nil, limit: 9) == [5, 4].map(row))
  }

  @Test func aGroupInAnothersPlaceDoesNotOpenAndHidesNoOther() async throws {
    do {
      let archive = try MessageArchive(path: path, key: TestKey.make())
      try await archive.appendSeen([group(1), group(2), group(3)], firstKept: 1, isPromised: true)
    }
    do {
      let database = try SQLiteDatabase(path: path, migrations: MessageArchive.migrations)
      try database.execute("UPDATE seen SET content = (SELECT content FROM seen WHERE number = 1) WHERE number = 2")
    }
    let archive = try MessageArchive(path: path, key: TestKey.make())
    #expect(
      try await archive.seenRows(below: nil, limit: 9) == [row(3), SeenRow(number: 2, content: nil), row(1)])
  }
}

extension MessageArchive {
  func storedSeen() throws -> [[UInt8]] {
    try database.rows("SELECT content FROM seen", limit: 100) { (row) throws(DatabaseError) in try row.blob(0) }
  }
}
