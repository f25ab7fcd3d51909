import Database
import Primitives
import Streams
import Testing

@testable import Storing

/// The end of a migration: which store counts is never in doubt, or nothing is written.
@Suite struct LastStepTests {
  private let directory = TemporaryDirectory()
  private let wall = Wall()
  private let faults = Faults()

  private func open(_ settings: Migration.Settings = Migration.Settings()) throws -> MigrationEngine {
    try makeEngine(directory, wall, faults, settings: settings)
  }

  /// Settings under which nothing moves by itself.
  private let still = Migration.Settings(days: 1_000, restarts: 1_000, beginsByItself: true)

  private func trouble(_ engine: MigrationEngine, _ trouble: Migration.Trouble) -> UInt64 {
    engine.migration.occurrences(of: trouble).count
  }

  /// Of names that are deleted a loss of power may bring back any: the file without its log as well.
  @Test func plainFileThatComesBackWithoutItsLogIsKnownAsTheOneThatWasLeft() throws {
    let engine = try open(still)
    try engine.put("a", [1])
    try engine.reach(.copyAll)
    let files = directory
    let file = Protected<[UInt8]?>(nil)
    faults.watch = {
      guard files.exists("plain.db") else { return }
      let bytes = files.bytes("plain.db")
      file.withLock { $0 = bytes }
    }
    _ = try engine.advance(isImpatient: true) { _ in }
    faults.watch = nil
    let left = directory.crashed()
    left.write(file.withLock { $0 }, to: "plain.db")
    #expect(left.exists("plain.db"))
    let next = try makeEngine(left, wall, settings: still)
    #expect(try next.get("a") == [1])
    #expect(next.migration.phase == .sealed && !left.exists("plain.db"))
  }

  @Test func dyingBetweenTheLastRecordAndTheDeletionIsFinishedAtTheNextStart() throws {
    let engine = try open(still)
    try engine.put("a", [1])
    try engine.reach(.copyAll)
    // The plain side as it is after it said that the sealed one may count.
    engine.migration.isSealing = true
    try engine.plain?.save(record: engine.migration.encoded)
    let plainOnly = directory.crashed()
    engine.migration.isSealing = false
    _ = try engine.advance(isImpatient: true) { _ in }
    #expect(engine.migration.phase == .sealed)
    let sealedOnly = directory.crashed()
    // Died before the sealed side said so: the plain one is still right.
    do {
      let next = try makeEngine(plainOnly, wall, faults, settings: still)
      #expect(next.migration.phase == .copyAll && !next.migration.isSealing)
      #expect(try next.get("a") == [1])
    }
    // Whether it said so cannot be read: nothing may be written.
    do {
      let undecided = directory.crashed()
      for name in ["plain.db", "plain.db-wal"] { undecided.write(plainOnly.bytes(name), to: name) }
      let plain = try PlainFile(path: undecided.plain)
      engine.migration.isSealing = true
      try plain.save(record: Data.sealing(plain))
      faults.now = [.keyFetch]
      #expect(throws: StoreError.migration(.undecided)) { try makeEngine(undecided, wall, faults) }
      faults.now = []
      withExtendedLifetime(plain) {}
    }
    // Died before the deletion.
    sealedOnly.write(directory.bytes("plain.db"), to: "plain.db")
    let plain = try PlainFile(path: sealedOnly.plain)
    try plain.prepareMigration()
    try plain.save(record: Data.sealing(plain))
    let next = try makeEngine(sealedOnly, wall, faults, settings: still)
    #expect(try next.get("a") == [1] && next.migration.phase == .sealed && !sealedOnly.exists("plain.db"))
  }

  /// Records of plain stores.
  private enum Data {
    static func sealing(_ plain: PlainFile) throws -> [UInt8] {
      var migration = Migration(now: 0)
      migration.enter(.copyAll, now: 0)
      migration.isSealing = true
      return migration.encoded
    }
  }

  @Test func aPlainStoreThatTurnsUpBesideASealedOneIsRefused() throws {
    do {
      let engine = try open(still)
      try engine.put("identity", [1])
      _ = try engine.advance(isImpatient: true) { _ in }
    }
    do { try PlainFile(path: directory.plain).put([("identity", [6, 6, 6])], isErasing: false) }
    let before = directory.contents
    #expect(throws: StoreError.migration(.foreignPlain(path: directory.plain))) { try open() }
    #expect(directory.contents == before)
  }

  @Test func aPlainStoreThatVanishedIsNotMadeAnew() throws {
    do {
      let engine = try open(still)
      try engine.put("a", [1])
      try engine.reach(.doubleWrite)
      _ = try engine.get("a")
    }
    for name in ["plain.db", "plain.db-wal", "plain.db-shm"] { directory.write(nil, to: name) }
    #expect(throws: StoreError.migration(.plainMissing(path: directory.plain))) { try open() }
    #expect(!directory.exists("plain.db"))
    let empty = TemporaryDirectory()
    #expect(throws: StoreError.migration(.missing)) {
      try makeEngine(empty, wall, faults, mayBegin: false)
    }
  }

  @Test func aFailedLastRecordIsLookedUpBeforeAnythingIsBelieved() throws {
    let engine = try open(still)
    try engine.put("a", [1])
    try engine.reach(.copyAll)
    faults.now = [.note]
    #expect(throws: StoreError.self) { try engine.advance(isImpatient: true) { _ in } }
    #expect(engine.migration.phase == .copyAll && !engine.migration.isSealing && trouble(engine, .write) == 1)
    try engine.put("a", [2])
    #expect(try engine.get("a") == [2])
    faults.now = []
    #expect(try engine.advance(isImpatient: true) { _ in } == [])
    #expect(try engine.get("a") == [2] && engine.migration.phase == .sealed)
  }

  @Test func aLastRecordThatFailedTooLateCounts() throws {
    do {
      let engine = try open(still)
      try engine.put("a", [1])
      try engine.reach(.copyAll)
      faults.now = [.lateNote]
      #expect(try engine.advance(isImpatient: true) { _ in } == [])
      #expect(engine.migration.phase == .sealed && !directory.exists("plain.db"))
    }
    faults.now = []
    #expect(try open().get("a") == [1])
  }

  @Test func whatIsNotKnownToCountTakesNothing() throws {
    let engine = try open(still)
    try engine.put("a", [1])
    try engine.reach(.copyAll)
    faults.now = [.lateNote]
    faults.whenNoteIsSet = [.reopen]
    #expect(throws: StoreError.migration(.undecided)) { try engine.advance(isImpatient: true) { _ in } }
    #expect(throws: StoreError.migration(.undecided)) { try engine.put("a", [2]) }
    #expect(throws: StoreError.migration(.undecided)) { try engine.rollBack() }
    #expect(try engine.get("a") == [1])
    let died = directory.crashed()
    faults.now = []
    let next = try makeEngine(died, wall, faults, settings: still)
    #expect(try next.get("a") == [1] && next.migration.phase == .sealed && !died.exists("plain.db"))
  }

  @Test func aStoreThatDoesNotComeBackFromTheDiskKeepsThePlainOne() throws {
    let engine = try open(still)
    try engine.put("a", [1])
    try engine.reach(.copyAll)
    faults.now = [.reopen]
    #expect(throws: StoreError.migration(.held([.sealedStore]))) { try engine.advance(isImpatient: true) { _ in } }
    #expect(try engine.get("a") == [1] && engine.migration.phase == .copyAll && trouble(engine, .open) == 1)
    #expect(directory.exists("plain.db"))
  }

  @Test func aNewNodeMayBeginSealed() throws {
    do {
      let engine = try makeEngine(directory, wall, faults, beginsSealed: true)
      try engine.put("a", [1])
      #expect(engine.migration.phase == .sealed && !directory.exists("plain.db"))
    }
    #expect(try open().get("a") == [1])
  }
}
