import Bytes
import Database
import Primitives
import Testing

@testable import Storing

@Suite struct SealedStoreTests {
  private let directory = TemporaryDirectory()

  private func raw() throws -> SQLiteDatabase {
    try SQLiteDatabase(path: directory.store, migrations: SealedFile.migrations)
  }

  private func row(_ name: String) throws -> [UInt8]? {
    try raw().first("SELECT record FROM sealed WHERE name = ?", [.text(name)]) { row throws(DatabaseError) in
      try row.blob(0)
    }
  }

  private func setRow(_ name: String, _ record: [UInt8]) throws {
    try raw().execute("INSERT OR REPLACE INTO sealed (name, record) VALUES (?, ?)", [.text(name), .blob(record)])
  }

  /// That the store is refused with this error and that the file is afterwards what it was before.
  private func expectRefusal(
    _ error: SealedStoreError, id: [UInt8] = storeID, key: UInt8 = 7, mayBegin: Bool = true
  ) throws {
    try raw().checkpoint()
    let before = directory.contents
    #expect(throws: error) { try openSealed(directory, id: id, key: key, mayBegin: mayBegin) }
    #expect(directory.contents == before)
  }

  @Test func valuesComeBackAfterReopening() async throws {
    let values = (0..<40).map { (name: "n\($0)", value: [UInt8](repeating: UInt8($0), count: $0 * 37)) }
    do {
      let store = try SealedStore(
        path: directory.store, storeID: storeID, key: dataKey(), random: .system, mayBegin: true)
      try await store.put(values)
      try await store.put([("n1", [1, 2, 3])], isErasing: true)
      try await store.remove(["n2", "never"])
      #expect(store.opened == 1)
    }
    let store = try SealedStore(
      path: directory.store, storeID: storeID, key: dataKey(), random: .system, mayBegin: false)
    #expect(try await store.get("n1") == [1, 2, 3])
    #expect(try await store.get("n2") == nil)
    #expect(try await store.get("n39") == values[39].value)
    #expect(try await store.names() == (values.map(\.name).filter { $0 != "n2" }).sorted())
    #expect(store.opened == 2)
  }

  /// Keys of records come of a salt; the same value under the same name has another one in each copy, and each time.
  @Test func threat19_copiesOfOneStoreNeverSealUnderOneSalt() throws {
    do { try openSealed(directory).put("k", [0]) }
    var (salts, ciphertexts) = (Set<[UInt8]>(), Set<[UInt8]>())
    for copy in [directory.crashed(), directory.crashed()] {
      let file = try openSealed(copy)
      for _ in 0..<40 {
        for name in ["k", "l"] {
          try file.put(name, [1, 2, 3, 4])
          let record = try SQLiteDatabase(path: copy.store, migrations: SealedFile.migrations)
            .first("SELECT record FROM sealed WHERE name = ?", [.text(name)]) { row throws(DatabaseError) in
              try row.blob(0)
            }
          let rest = try #require(record).dropFirst(SealedFile.prefixBytes)
          salts.insert(Array(rest.prefix(RecordSealer.saltBytes)))
          ciphertexts.insert(Array(rest.dropFirst(RecordSealer.saltBytes)))
        }
      }
    }
    #expect(salts.count == 160 && ciphertexts.count == 160)
  }

  @Test func nothingOfAValueIsInTheFile() throws {
    let secret = [UInt8](repeating: 0xA7, count: 48)
    let file = try openSealed(directory)
    try file.put("k", secret)
    for name in ["store.db", "store.db-wal"] {
      let bytes = directory.bytes(name) ?? []
      #expect(!bytes.indices.dropLast(8).contains { bytes[$0..<$0 + 8].elementsEqual(secret.prefix(8)) })
    }
  }

  @Test func anotherKeyIsRefused() throws {
    do { try openSealed(directory).put("a", [1]) }
    try expectRefusal(.otherKey(path: directory.store), key: 8)
  }

  @Test func anotherStoreIsRefused() throws {
    do { try openSealed(directory).put("a", [1]) }
    try expectRefusal(.otherStore(path: directory.store, found: storeID), id: otherID)
    // Somebody who changes the id in the file gets no further.
    try raw().execute("UPDATE header SET store = ?", [.blob(otherID)])
    #expect(throws: SealedStoreError.otherKey(path: directory.store)) { try openSealed(directory, id: otherID) }
  }

  @Test func aMissingStoreIsNotMadeUnlessItMayBegin() throws {
    #expect(throws: SealedStoreError.missing(path: directory.store)) { try openSealed(directory, mayBegin: false) }
    #expect(!directory.exists("store.db"))
    do { try openSealed(directory).put("a", [1]) }
    try raw().execute("DELETE FROM header")
    try expectRefusal(.missing(path: directory.store))
    try raw().execute("DELETE FROM sealed")
    try expectRefusal(.missing(path: directory.store), mayBegin: false)
  }

  @Test func aHeaderOfAnotherTimeOrChangedIsRefused() throws {
    do { try openSealed(directory).put("a", [1]) }
    func header() throws -> [UInt8] {
      try #require(
        try raw().first("SELECT sealed FROM header") { row throws(DatabaseError) in try row.blob(0) })
    }
    let old = try header()
    do { try openSealed(directory).put("a", [2]) }
    let new = try header()
    try raw().execute("UPDATE header SET sealed = ?", [.blob(old)])
    try expectRefusal(.summary(path: directory.store))
    var changed = new
    changed[20] ^= 1
    try raw().execute("UPDATE header SET sealed = ?", [.blob(changed)])
    try expectRefusal(.header(path: directory.store))
    try raw().execute("UPDATE header SET sealed = ?", [.blob(new)])
    #expect(try openSealed(directory).read("a") == .value([2]))
  }

  @Test func rowsPutBackRemovedOrAddedWhileClosedAreRefused() throws {
    do {
      let file = try openSealed(directory)
      try file.put("a", [1])
      try file.put("b", [2])
    }
    let (oldA, b) = (try #require(try row("a")), try #require(try row("b")))
    do { try openSealed(directory).put("a", [3]) }
    let newA = try #require(try row("a"))
    // Put back.
    try setRow("a", oldA)
    try expectRefusal(.summary(path: directory.store))
    try setRow("a", newA)
    // Removed.
    try raw().execute("DELETE FROM sealed WHERE name = 'b'")
    try expectRefusal(.summary(path: directory.store))
    try setRow("b", b)
    // Added.
    try setRow("c", b)
    try expectRefusal(.summary(path: directory.store))
    try raw().execute("DELETE FROM sealed WHERE name = 'c'")
    // Exchanged.
    try setRow("a", b)
    try setRow("b", newA)
    try expectRefusal(.summary(path: directory.store))
    try setRow("a", newA)
    try setRow("b", b)
    // Of another kind.
    var removed = b
    removed[8] = 1
    try setRow("b", removed)
    try expectRefusal(.summary(path: directory.store))
    try setRow("b", b)
    #expect(try openSealed(directory).read("b") == .value([2]))
  }

  @Test func rowsChangedWhileOpenAreRefusedWhenRead() throws {
    let file = try openSealed(directory)
    try file.put("a", [1])
    try file.put("b", [2])
    let oldA = try #require(try row("a"))
    try file.put("a", [3])
    let newA = try #require(try row("a"))
    try setRow("a", oldA)
    #expect(throws: SealedStoreError.generation(name: "a", expected: 3, found: 1)) { try file.read("a") }
    try setRow("a", Array(newA.prefix(9)) + oldA.dropFirst(9))
    #expect(throws: SealedStoreError.value(name: "a")) { try file.read("a") }
    try raw().execute("DELETE FROM sealed WHERE name = 'a'")
    #expect(throws: SealedStoreError.rowMissing(name: "a")) { try file.read("a") }
    try setRow("a", newA)
    #expect(try file.read("a") == .value([3]))
    try setRow("c", newA)
    #expect(throws: SealedStoreError.rowAdded(name: "c")) { try file.read("c") }
    try setRow("c", [])
    #expect(throws: SealedStoreError.value(name: "c")) { try file.read("c") }
  }

  @Test func anExchangedValueUnderItsOwnGenerationDoesNotOpen() throws {
    let file = try openSealed(directory)
    try file.put("a", [1])
    try file.put("b", [2])
    let (a, b) = (try #require(try row("a")), try #require(try row("b")))
    try setRow("a", Array(a.prefix(9)) + b.dropFirst(9))
    #expect(throws: SealedStoreError.value(name: "a")) { try file.read("a") }
  }

  @Test func everyFlippedBitOfARowIsRefused() throws {
    let file = try openSealed(directory)
    try file.put("a", [1, 2, 3])
    let record = try #require(try row("a"))
    for bit in 0..<record.count * 8 {
      var changed = record
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      try setRow("a", changed)
      #expect(throws: SealedStoreError.self, "bit \(bit)") { try file.read("a") }
    }
    try setRow("a", record)
    #expect(try file.read("a") == .value([1, 2, 3]))
  }

  @Test func anOlderCopyOfTheWholeStoreHasBeenOpenedLessOften() throws {
    func open() throws -> SealedFile {
      let file = try openSealed(directory)
      try file.countOpening()
      return file
    }
    do { try open().put("a", [1]) }
    let old = directory.bytes("store.db")
    do { try open().put("a", [2]) }
    let opened = try open().opened
    directory.write(old, to: "store.db")
    #expect(try opened == 3 && open().opened == 2)
  }

  @Test func deletionsAreRememberedUpToABoundOldestFirst() throws {
    let file = try openSealed(directory)
    let names = (0...StoringLimits.tombstones).map { "n\($0)" }
    for start in stride(from: 0, to: names.count, by: 500) {
      try file.write(names[start..<min(start + 500, names.count)].map { ($0, [1]) }, isErasing: false)
    }
    file.isAlone = false
    try file.remove(Array(names.prefix(512)))
    try file.remove(Array(names.dropFirst(512)))
    #expect(try file.read("n0") == .removed)
    file.isAlone = true
    try file.put("last", [1])
    #expect(try file.read("n0") == .unknown && file.read("n128") == .unknown && file.read("n1024") == .removed)
    try file.reopen()
    #expect(try file.read("n0") == .unknown && file.read("n1024") == .removed && file.names() == ["last"])
  }

  @Test func boundsAreHeld() async throws {
    let store = try SealedStore(
      path: directory.store, storeID: storeID, key: dataKey(), random: .system, mayBegin: true)
    let large = [UInt8](repeating: 1, count: StoringLimits.valueBytes)
    try await store.put([("large", large)])
    #expect(try await store.get("large") == large)
    await #expect(throws: StoreError.refused(.value(name: "a", byteCount: large.count + 1))) {
      try await store.put([("a", large + [1])])
    }
    await #expect(throws: StoreError.refused(.name(byteCount: 0))) { try await store.put([("", [1])]) }
    await #expect(throws: StoreError.refused(.name(byteCount: 256))) {
      try await store.remove([String(repeating: "x", count: 256)])
    }
  }

  @Test func aFailureOfRandomnessLeavesTheStoreUsable() throws {
    let file = try SealedFile(
      path: directory.store, storeID: storeID, key: dataKey(), random: .system, mayBegin: true)
    try file.put("a", [1])
    let broken = try SealedFile(
      path: directory.store, storeID: storeID, key: dataKey(), random: onceEach(0), mayBegin: false)
    #expect(throws: SealedStoreError.primitive(.noRandomness)) { try broken.put("a", [2]) }
    #expect(try broken.read("a") == .value([1]))
    withExtendedLifetime(file) {}
  }

  /// Randomness that ends after so many uses.
  private func onceEach(_ count: Int) -> RandomSource {
    let left = Counter(count)
    return RandomSource { span in
      for index in 0..<span.byteCount {
        span.storeBytes(of: UInt8(truncatingIfNeeded: index), toByteOffset: index, as: UInt8.self)
      }
      return left.take()
    }
  }
}
