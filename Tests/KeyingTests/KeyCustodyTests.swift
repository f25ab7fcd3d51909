import Bytes
import CLinux
import Glibc
import Primitives
import TestKit
import Testing

@testable import Keying

@Suite struct KeyCustodyTests {
  @Test func keysThatWereMadeAreOpened() throws {
    let disk = emptyDisk()
    let made = try custody(disk).create(with: .credential())
    let key = hex(made.dataKey)
    #expect(made.stateCounter == 1 && made.kind == .credential && made.protection == .credential)
    let opened = try custody(disk, seed: 2).open(with: .credential())
    #expect(hex(opened.dataKey) == key && opened.storeID == made.storeID && opened.stateCounter == 2)
    #expect(try custody(disk, seed: 3).open(with: .credential()).stateCounter == 3)
    #expect(Set(disk.contents.keys.filter { $0.hasPrefix(state) }) == [state + "/keys.v1"])
  }

  @Test func everySlotOpensToTheSameKey() throws {
    let (disk, key) = try madeDisk()
    try custody(disk).addSlot(for: .keyFile("/keys/relay.kek"), openedBy: passphrase("old"))
    #expect(try dataKey(disk, .credential()) == key)
    #expect(try dataKey(disk, passphrase("old")) == key)
    #expect(try dataKey(disk, .keyFile("/keys/relay.kek")) == key)
    let opened = try custody(disk).open(with: .credential())
    #expect(opened.slots == [.credential, .passphrase, .keyFile])
    try custody(disk).removeSlot(1, of: .passphrase, openedBy: .credential())
    #expect(throws: KeyingError.providerChanged(asked: .passphrase, recorded: [.credential, .keyFile])) {
      try dataKey(disk, passphrase("old"))
    }
    #expect(throws: KeyingError.noSuchSlot(0)) {
      try custody(disk).removeSlot(0, of: .passphrase, openedBy: .credential())
    }
    try custody(disk).removeSlot(1, of: .keyFile, openedBy: .credential())
    #expect(throws: KeyingError.slotCount(1)) {
      try custody(disk).removeSlot(0, of: .credential, openedBy: .credential())
    }
    #expect(try dataKey(disk, .credential()) == key)
  }

  @Test func changedPassphraseOpensAndTheFormerDoesNot() throws {
    let (disk, key) = try madeDisk()
    try custody(disk, seed: 5).replaceSlot(openedBy: passphrase("old"), with: passphrase("new"))
    #expect(try dataKey(disk, passphrase("new")) == key)
    #expect(throws: KeyingError.wrongKey(.passphrase)) { try dataKey(disk, passphrase("old")) }
    #expect(try dataKey(disk, .credential()) == key)
    #expect(disk.contents[state + "/keys.v1.bak"] == nil)
  }

  @Test func moreSlotsThanFitAreRefused() throws {
    let (disk, _) = try madeDisk()
    for number in 0..<6 {
      try custody(disk, seed: UInt64(number)).addSlot(for: passphrase("p\(number)"), openedBy: .credential())
    }
    #expect(throws: KeyingError.slotCount(8)) {
      try custody(disk).addSlot(for: passphrase("more"), openedBy: .credential())
    }
    _ = try dataKey(disk, passphrase("p5"))
  }

  /// What is refused leaves every file as it was.
  private func refuses(
    _ expected: KeyingError, _ disk: MemoryFileSystem, _ body: (KeyCustody) throws -> Void,
    at place: SourceLocation = #_sourceLocation
  ) {
    let before = disk.contents
    #expect(throws: expected, sourceLocation: place) { try body(custody(disk)) }
    #expect(disk.contents == before, "nothing was written", sourceLocation: place)
    #expect(disk.written.isEmpty, sourceLocation: place)
  }

  @Test func everyRefusalWritesNothing() throws {
    let made = try madeDisk().0
    let path = state + "/keys.v1"
    let missing = made.copy()
    try missing.unlink("/run/credentials/relay.kek")
    refuses(.providerMissing(.credential, place: "/run/credentials/relay.kek"), missing.copy()) {
      _ = try $0.open(with: .credential())
    }
    refuses(.providerLocked(.passphrase, place: "passphrase", code: 0), made.copy()) {
      _ = try $0.open(with: .lockedPassphrase())
    }
    refuses(.wrongKey(.passphrase), made.copy()) { _ = try $0.open(with: passphrase("guess")) }
    let other = made.copy()
    other.put("/run/credentials/relay.kek", otherKey)
    refuses(.wrongKey(.credential), other) { _ = try $0.open(with: .credential()) }
    refuses(.providerChanged(asked: .keyFile, recorded: [.credential, .passphrase]), made.copy()) {
      _ = try $0.open(with: .keyFile("/keys/relay.kek"))
    }
    refuses(.alreadyInitialised(path: path), made.copy()) { _ = try $0.create(with: .credential()) }
    let damaged = made.copy()
    var bytes = made.contents[path] ?? []
    bytes[60] ^= 1
    damaged.put(path, bytes)
    refuses(.corrupt(path: path, .checksum, backup: .none), damaged.copy()) { _ = try $0.open(with: .credential()) }
    damaged.put(path + ".bak", made.contents[path] ?? [])
    refuses(.corrupt(path: path, .checksum, backup: .readable(path: path + ".bak")), damaged.copy()) {
      _ = try $0.open(with: .credential())
    }
    damaged.put(path + ".bak", [1, 2, 3])
    refuses(.corrupt(path: path, .checksum, backup: .damaged(path: path + ".bak")), damaged.copy()) {
      _ = try $0.open(with: .credential())
    }
    damaged.put(path, [])
    refuses(.corrupt(path: path, .length, backup: .damaged(path: path + ".bak")), damaged.copy()) {
      _ = try $0.open(with: .credential())
    }
    let newer = made.copy()
    bytes = made.contents[path] ?? []
    bytes[8] = 2
    newer.put(path, bytes)
    refuses(.formatTooNew(path: path, found: 2), newer) { _ = try $0.open(with: .credential()) }
  }

  @Test func fileThatTheHolderOfTheKeyDidNotWriteIsRefused() throws {
    let disk = try madeDisk().0
    let path = state + "/keys.v1"
    let bytes = disk.contents[path] ?? []
    let file = try KeySlots(decoding: bytes.rawSpan)
    // A slot taken away, or the counter put back, by somebody who cannot make the code.
    let forged = try KeySlots(
      storeID: file.storeID, stateCounter: 0, slots: [file.slots[0]], dataKey: keySecret(otherKey))
    disk.put(path, forged.encoded)
    refuses(.corrupt(path: path, .code, backup: .none), disk.copy()) { _ = try $0.open(with: .credential()) }
  }

  @Test func lostSlotFileIsNeverMadeAnew() throws {
    let path = state + "/keys.v1"
    for name in ["store.db", "store.db-wal", "inbox.db", "archive.db", "quarantine", "plain.db"]
    where name != "plain.db" {
      let disk = emptyDisk()
      disk.put(state + "/" + name, [1])
      refuses(.slotFileLost(path: path, found: [name]), disk.copy()) { _ = try $0.open(with: .credential()) }
      refuses(.slotFileLost(path: path, found: [name]), disk.copy()) { _ = try $0.create(with: .credential()) }
      refuses(.slotFileLost(path: path, found: [name]), disk.copy()) {
        _ = try $0.create(with: .credential(), isMigration: true)
      }
    }
    let disk = emptyDisk()
    disk.put(path + ".bak", [1])
    refuses(.slotFileLost(path: path, found: ["keys.v1.bak"]), disk.copy()) {
      _ = try $0.create(with: .credential())
    }
    refuses(.notInitialised(directory: state), emptyDisk()) { _ = try $0.open(with: .credential()) }
    refuses(.nothingToMigrate(directory: state), emptyDisk()) {
      _ = try $0.create(with: .credential(), isMigration: true)
    }
  }

  @Test func plainStoreGetsKeysByMigrationAlone() throws {
    let disk = emptyDisk()
    for name in ["plain.db", "plain.db-wal", "archive.db", "lock"] { disk.put(state + "/" + name, [1]) }
    refuses(.migrationNeeded(directory: state), disk.copy()) { _ = try $0.open(with: .credential()) }
    refuses(.migrationNeeded(directory: state), disk.copy()) { _ = try $0.create(with: .credential()) }
    let key = hex(try custody(disk).create(with: .credential(), isMigration: true).dataKey)
    #expect(try dataKey(disk, .credential()) == key)
    #expect(disk.contents[state + "/plain.db"] == [1])
    // A store that was sealed already is no plain one.
    let sealed = emptyDisk()
    for name in ["plain.db", "store.db"] { sealed.put(state + "/" + name, [1]) }
    refuses(.slotFileLost(path: state + "/keys.v1", found: ["plain.db", "store.db"]), sealed) {
      _ = try $0.create(with: .credential(), isMigration: true)
    }
  }

  @Test func noRandomnessMakesNoKeys() throws {
    let disk = emptyDisk()
    var without = surroundings(disk)
    without.random = RandomSource { _ in false }
    let custody = KeyCustody(directory: state, surroundings: without)
    #expect(throws: KeyingError.primitive(.noRandomness)) { _ = try custody.create(with: .credential()) }
    #expect(disk.written.isEmpty)
  }

  @Test func refusedPassphraseTakesItsTime() throws {
    let clock = StandingClock()
    let (disk, _) = try madeDisk()
    #expect(throws: KeyingError.wrongKey(.passphrase)) {
      _ = try custody(disk, clock: clock).open(with: passphrase("x"))
    }
    #expect(clock.waited == [.milliseconds(300)])
    _ = try custody(disk, clock: clock).open(with: passphrase("old"))
    #expect(clock.waited.count == 1)
  }

  @Test func passphraseOnARealMachineTakesItsTime() throws {
    let disk = emptyDisk()
    func real(_ seed: UInt64) -> KeyCustody {
      KeyCustody(
        directory: state,
        surroundings: surroundings(disk, seed: seed, clock: SystemKeyingClock(), stretcher: .scrypt))
    }
    let key = hex(try real(1).create(with: passphrase("a long one")).dataKey)
    let clock = SystemKeyingClock()
    let start = clock.now()
    #expect(throws: KeyingError.wrongKey(.passphrase)) { _ = try real(2).open(with: passphrase("a wrong one")) }
    #expect(clock.now() - start >= .milliseconds(300))
    let opened = try real(3).open(with: passphrase("a long one"))
    #expect(hex(opened.dataKey) == key && opened.protection == .passphrase)
  }

  @Test func passphraseHasALength() throws {
    let (disk, _) = try madeDisk()
    #expect(throws: KeyingError.passphraseLength(0)) {
      try custody(disk).addSlot(for: .lockedPassphrase(), openedBy: .credential())
    }
    #expect(throws: KeyingError.passphraseLength(1_025)) {
      try custody(disk).addSlot(for: passphrase(String(repeating: "x", count: 1_025)), openedBy: .credential())
    }
  }

  @Test func readingAloneWritesNothing() throws {
    let (disk, key) = try madeDisk()
    let before = disk.contents
    for _ in 0..<2 {
      let opened = try custody(disk).open(with: .credential(), isCounted: false)
      #expect(hex(opened.dataKey) == key && opened.stateCounter == 1)
    }
    #expect(disk.written.isEmpty && disk.contents == before)
  }

  @Test func lastCounterStays() throws {
    let disk = emptyDisk()
    let made = try custody(disk).create(with: .credential())
    let path = state + "/keys.v1"
    let bytes = disk.contents[path] ?? []
    let file = try KeySlots(decoding: bytes.rawSpan)
    let last = try KeySlots(storeID: file.storeID, stateCounter: .max, slots: file.slots, dataKey: made.dataKey)
    disk.put(path, last.encoded)
    #expect(try custody(disk).open(with: .credential()).stateCounter == .max)
  }

  /// In a process of its own: what is forbidden here stays so, and other tests look into themselves.
  @Test func memoryOfTheProcessIsItsOwn() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let before = clinux_is_dumpable()
      guard ProcessProtection.begin(), ProcessProtection.isActive, before == 1 || before == 0 else { exit(1) }
      var limit = rlimit()
      let isRead = unsafe getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0
      guard clinux_is_dumpable() == 0, isRead, limit.rlim_cur == 0, limit.rlim_max == 0 else { exit(2) }
      exit(7)
    }
  }
}
