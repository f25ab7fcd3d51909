import Database
import Primitives
import Testing

@testable import Storing

@Suite struct MigratingStoreTests {
  private let directory = TemporaryDirectory()
  private let wall = Wall()
  private let faults = Faults()
  static let inBetween: [Migration.Phase] = [.doubleWrite, .verify, .copyAll]

  private func open(_ settings: Migration.Settings = Migration.Settings()) throws -> MigrationEngine {
    try makeEngine(directory, wall, faults, settings: settings)
  }

  /// Settings under which nothing moves by itself.
  private let still = Migration.Settings(days: 1_000, restarts: 1_000, beginsByItself: true)

  private func trouble(_ engine: MigrationEngine, _ trouble: Migration.Trouble) -> UInt64 {
    engine.migration.occurrences(of: trouble).count
  }

  @Test func theWholeWayWithoutAnybodyAsking() async throws {
    do { try PlainFile(path: directory.plain).put([("old", [1]), ("other", [2])], isErasing: false) }
    let settings = Migration.Settings(days: 2, restarts: 2)
    var phases: [Migration.Phase] = []
    for _ in 0..<12 {
      let store = try MigratingStore(
        plainPath: directory.plain, provider: FaultyProvider(directory, faults), settings: settings, mayBegin: false,
        wall: { [wall] in wall.now })
      try await store.advance()
      let status = try await store.status()
      if phases.last != status.migration.phase { phases.append(status.migration.phase) }
      #expect(try await store.get("old") == [1])
      try await store.put([("new", [UInt8(phases.count)])])
      #expect(try await store.names() == ["new", "old", "other"])
      wall.pass(days: 1)
    }
    #expect(phases == [.doubleWrite, .verify, .sealed])
    #expect(!directory.exists("plain.db") && !directory.exists("plain.db-wal") && !directory.exists("plain.db-shm"))
    let store = try MigratingStore(
      plainPath: directory.plain, provider: FaultyProvider(directory, faults), mayBegin: false,
      wall: { [wall] in wall.now })
    #expect(try await store.get("other") == [2])
    #expect(try await store.get("new") == [3])
    await #expect(throws: StoreError.migration(.plainIsGone)) { try await store.rollback() }
  }

  @Test func impatienceGoesTheWholeWayAtOnce() async throws {
    do {
      try PlainFile(path: directory.plain).put(
        (0..<300).map { ("n\($0)", [UInt8](repeating: UInt8($0 & 255), count: $0)) }, isErasing: false)
    }
    let store = try MigratingStore(
      plainPath: directory.plain, provider: FaultyProvider(directory, faults), mayBegin: false,
      wall: { [wall] in wall.now })
    let counter = Counter(1_000)
    #expect(try await store.migrate(isImpatient: true) { _ in _ = counter.take() } == [])
    let status = try await store.status()
    #expect(status.migration.phase == .sealed && status.sealedValues == 300 && status.plainValues == nil)
    #expect(!status.canRollBack && status.missing.isEmpty && status.leftover == nil)
    for number in [0, 1, 150, 299] {
      #expect(try await store.get("n\(number)") == [UInt8](repeating: UInt8(number & 255), count: number))
    }
    #expect(try await store.verify { _ in }.compared == 300)
  }

  @Test(arguments: inBetween) func aFailedSealedWriteNeverFailsThePlainOneAndIsNeverStale(
    _ phase: Migration.Phase
  ) throws {
    for (fault, kind) in [(Fault.seal, Migration.Trouble.seal), (.write, .write)] {
      let directory = TemporaryDirectory()
      let faults = Faults()
      var engine: MigrationEngine? = try makeEngine(directory, wall, faults, settings: still)
      try engine?.put("a", [1])
      try engine?.put("b", [1])
      try engine?.reach(phase)
      #expect(try engine?.get("a") == [1] && engine?.get("b") == [1])
      faults.now = [fault]
      try engine?.put("a", [2])
      try engine?.remove(["b"])
      #expect(try engine?.get("a") == [2] && engine?.get("b") == nil)
      #expect(engine.map { trouble($0, kind) } == 2 && engine?.migration.phase == phase)
      #expect(engine?.migration.since == wall.now)
      // The mark and the count are on the disk.
      let died = directory.crashed()
      engine = nil
      faults.now = []
      let next = try makeEngine(died, wall, faults, settings: still)
      #expect(try next.get("a") == [2] && next.get("b") == nil)
      #expect(trouble(next, kind) == 2 && next.migration.phase == phase)
      #expect(try next.status().markedNames == 2)
      // It is caught up by the next step, and read from the sealed store again.
      _ = try next.advance(isImpatient: false) { _ in }
      if phase != .copyAll {
        #expect(try next.status().markedNames == 0 && next.status().openMismatches == 0)
        #expect(try next.sealed?.read("a") == .value([2]) && next.sealed?.read("b") == .removed)
      }
      #expect(try next.get("a") == [2] && next.get("b") == nil)
    }
  }

  @Test(arguments: inBetween) func aValueThatDoesNotOpenIsReadFromThePlainStore(_ phase: Migration.Phase) throws {
    let engine = try open(still)
    try engine.put("a", [1])
    try engine.reach(phase)
    _ = try engine.get("a")
    faults.now = [.open]
    #expect(try engine.get("a") == [1])
    #expect(trouble(engine, .open) == 1 && engine.migration.phase == phase)
    #expect(try engine.status().markedNames == 1)
    try engine.put("a", [2])
    #expect(try engine.get("a") == [2])
    #expect(try engine.advance(isImpatient: true) { _ in }.isEmpty == false)
    #expect(engine.migration.phase == phase)
    faults.now = []
    #expect(try engine.get("a") == [2])
    #expect(try engine.advance(isImpatient: true) { _ in } == [])
    #expect(try engine.get("a") == [2] && engine.migration.phase == .sealed)
  }

  @Test(arguments: inBetween) func aKeyThatCannotBeHadHoldsThePhase(_ phase: Migration.Phase) throws {
    for (fault, kind) in [(Fault.keyFetch, Migration.Trouble.keyFetch), (.openStore, .open)] {
      let directory = TemporaryDirectory()
      let faults = Faults()
      do {
        let engine = try makeEngine(directory, wall, faults, settings: still)
        try engine.put("a", [1])
        try engine.reach(phase)
        _ = try engine.get("a")
      }
      faults.now = [fault]
      do {
        let engine = try makeEngine(directory, wall, faults, settings: Migration.Settings(days: 0, restarts: 0))
        #expect(try engine.get("a") == [1])
        try engine.put("a", [2])
        #expect(try engine.get("a") == [2])
        #expect(trouble(engine, kind) == 1)
        let missing = try engine.advance(isImpatient: false) { _ in }
        #expect(missing == [.sealedStore, .names(1)] && engine.migration.phase == phase)
        #expect(try engine.status().sealedError != nil)
        #expect(throws: StoreError.migration(.held([.sealedStore]))) { try engine.verify { _ in } }
        #expect(trouble(engine, kind) == 2)
      }
      faults.now = []
      let engine = try makeEngine(directory, wall, faults, settings: still)
      #expect(try engine.get("a") == [2] && trouble(engine, kind) == 2 && engine.migration.phase == phase)
    }
  }

  /// What a process leaves that dies in its first step: a file of no bytes, one with a schema and no header, one that was
  /// begun and holds nothing.
  @Test(arguments: 0...2) func aBeginningThatWasKilledIsNoTrouble(_ cut: Int) throws {
    do { try open(still).put("a", [1]) }
    switch cut {
    case 0: directory.write([], to: "store.db")
    case 1: _ = try SQLiteDatabase(path: directory.store, migrations: SealedFile.migrations)
    default: _ = try openSealed(directory)
    }
    let engine = try open()
    #expect(Migration.Trouble.allCases.allSatisfy { trouble(engine, $0) == 0 })
    #expect(engine.migration.phase == .plain)
    _ = try engine.advance(isImpatient: true) { _ in }
    #expect(try engine.migration.phase == .sealed && engine.get("a") == [1])
    #expect(Migration.Trouble.allCases.allSatisfy { trouble(engine, $0) == 0 })
  }

  @Test func aKeyThatCannotBeHadDoesNotEvenBegin() throws {
    faults.now = [.keyFetch]
    let engine = try open()
    try engine.put("a", [1])
    #expect(try engine.advance(isImpatient: true) { _ in } == [.sealedStore])
    #expect(engine.migration.phase == .plain && trouble(engine, .keyFetch) == 1)
    faults.now = [.clear]
    #expect(try engine.advance(isImpatient: true) { _ in } == [.sealedStore])
    #expect(try engine.get("a") == [1] && engine.migration.phase == .plain)
  }

  @Test func inTheLastPhaseAFailureIsAnErrorAndNothingIsLost() throws {
    do {
      let engine = try open(still)
      try engine.put("a", [1])
      _ = try engine.advance(isImpatient: true) { _ in }
      #expect(engine.migration.phase == .sealed)
      faults.now = [.seal]
      #expect(throws: StoreError.sealed(.primitive(.noRandomness))) { try engine.put("a", [2]) }
      faults.now = [.open]
      #expect(throws: StoreError.sealed(.value(name: "a"))) { try engine.get("a") }
      faults.now = []
      #expect(try engine.get("a") == [1])
    }
    let before = directory.contents
    faults.now = [.keyFetch]
    #expect(throws: StoreError.sealed(.noKey(reason: "test"))) { try open() }
    faults.now = []
    #expect(throws: StoreError.sealed(.otherKey(path: directory.store))) { try makeEngine(directory, wall, key: 8) }
    #expect(directory.contents == before)
    let engine = try open()
    #expect(try engine.get("a") == [1] && trouble(engine, .seal) == 1 && trouble(engine, .open) == 1)
  }

  @Test func aMismatchIsCountedPlainWinsAndHoldsTheWay() throws {
    let engine = try open(still)
    try engine.put("a", [1])
    try engine.put("b", [1])
    try engine.reach(.verify)
    _ = try (engine.get("a"), engine.get("b"))
    try engine.sealed?.write([("a", [9])], isErasing: false)
    #expect(try engine.get("a") == [1])
    #expect(trouble(engine, .mismatch) == 1)
    #expect(try engine.get("a") == [1] && trouble(engine, .mismatch) == 1, "it is marked and read from one store")
    #expect(try engine.advance(isImpatient: true) { _ in } == [.mismatches(1)])
    #expect(engine.migration.phase == .verify)
    // What only the sealed store has is a mismatch too.
    try engine.sealed?.write([("ghost", [9])], isErasing: false)
    #expect(try engine.get("ghost") == nil)
    #expect(trouble(engine, .mismatch) == 2)
    #expect(try engine.status().openMismatches == 2)
    // A look into it settles both.
    let report = try engine.verify { _ in }
    #expect(report.settled == 2 && report.mismatches == 0)
    #expect(try engine.get("a") == [1] && engine.get("ghost") == nil && engine.status().openMismatches == 0)
    #expect(try engine.advance(isImpatient: true) { _ in } == [])
    #expect(try engine.get("a") == [1] && engine.names() == ["a", "b"])
  }

  @Test func whatDiffersAtTheLastComparisonKeepsThePlainStore() throws {
    let engine = try open(still)
    try engine.put("a", [1])
    try engine.reach(.copyAll)
    try engine.sealed?.write([("a", [9])], isErasing: false)
    #expect(throws: StoreError.migration(.mismatches(1))) { try engine.advance(isImpatient: true) { _ in } }
    #expect(engine.migration.phase == .copyAll && directory.exists("plain.db"))
    #expect(try engine.get("a") == [1])
    #expect(try engine.verify { _ in }.settled == 1)
    #expect(try engine.advance(isImpatient: true) { _ in } == [])
    #expect(try engine.get("a") == [1] && !directory.exists("plain.db"))
  }

  @Test func readingCopiesAndADeletionIsNotResurrected() throws {
    do { try PlainFile(path: directory.plain).put([("a", [1]), ("b", [2])], isErasing: false) }
    let engine = try open(still)
    try engine.reach(.doubleWrite)
    #expect(try engine.sealed?.read("a") == .unknown)
    #expect(try engine.get("a") == [1])
    #expect(try engine.sealed?.read("a") == .value([1]))
    try engine.remove(["a", "b"])
    #expect(try engine.get("a") == nil && engine.get("b") == nil)
    #expect(try engine.sealed?.read("b") == .removed, "never copied, and remembered all the same")
    let died = directory.crashed()
    let next = try makeEngine(died, wall, faults, settings: still)
    _ = try next.advance(isImpatient: true) { _ in }
    #expect(next.migration.phase == .sealed, "\(String(describing: next.sealedError))")
    #expect(try next.get("a") == nil && next.get("b") == nil && next.names() == [])
  }

  @Test func aWriteAroundTheStoreIsNotHiddenByAStaleSealedValue() throws {
    do {
      let engine = try open(still)
      try engine.put("a", [1])
      try engine.reach(.doubleWrite)
      _ = try engine.get("a")
    }
    // A program of an earlier version.
    do { try PlainFile(path: directory.plain).put([("a", [2]), ("c", [3])], isErasing: false) }
    let engine = try open(still)
    #expect(try engine.get("a") == [2] && engine.get("c") == [3])
    #expect(try engine.status().markedNames == 2)
  }

  @Test func anOlderSealedFileBesideThePlainOneIsNotBelieved() throws {
    do {
      let engine = try open(still)
      try engine.put("a", [1])
      try engine.reach(.doubleWrite)
      _ = try engine.get("a")
      try engine.put("a", [2])
      _ = try engine.advance(isImpatient: false) { _ in }
    }
    let old = directory.bytes("store.db")
    do {
      let engine = try open(still)
      try engine.put("a", [3])
      _ = try engine.advance(isImpatient: false) { _ in }
      #expect(try engine.get("a") == [3])
    }
    directory.write(old, to: "store.db")
    let engine = try open(still)
    #expect(try engine.get("a") == [3] && trouble(engine, .open) == 1)
    directory.write(nil, to: "store.db")
    directory.write(nil, to: "store.db-wal")
    #expect(try open(still).get("a") == [3])
  }

  @Test(arguments: inBetween) func theWayBackLosesNothing(_ phase: Migration.Phase) throws {
    do {
      let engine = try open(still)
      try engine.put("a", [1])
      try engine.reach(phase)
      try engine.put("a", [2])
      try engine.rollBack()
      #expect(try engine.get("a") == [2] && engine.migration.phase == .plain)
      try engine.put("a", [3])
    }
    // Earlier versions see a plain store like any other.
    #expect(try PlainFile(path: directory.plain).get("a") == [3])
    let engine = try open()
    #expect(try engine.advance(isImpatient: false) { _ in } == [.word])
    #expect(try engine.get("a") == [3])
    engine.migration.release()
    _ = try engine.advance(isImpatient: true) { _ in }
    #expect(try engine.get("a") == [3] && engine.migration.phase == .sealed)
  }
}
