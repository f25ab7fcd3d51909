import Archive
import ControlAPI
import Foundation
import Identities
import Keying
import Primitives
import Sessions
import Storing
import TestKit
import Testing

@testable import NodeRuntime

/// What is opened at the start, and what is refused: each refusal with its own code and every file as it was.
struct StateVaultTests {
  @Test func withoutAKeyAnEmptyDirectoryIsKeptPlainlyAndSaysSo() async throws {
    let folder = try VaultFolder()
    let vault = try await folder.open(nil)
    #expect(vault.migrating == nil && vault.protection == .none)
    #expect(try await vault.record().protection == .none)
    #expect(folder.names.contains("plain.db") && !folder.names.contains("keys.v1"))
  }

  @Test func threat16_onlyInitMakesKeysAndMakesThemOnce() async throws {
    let folder = try VaultFolder()
    #expect(await folder.refusal(folder.source()) == 5)
    #expect(!folder.names.contains("keys.v1"))
    #expect(folder.initialise() == 0)
    #expect(folder.initialise() == 5)
    let vault = try await folder.open(folder.source())
    try await vault.store.put([("a", [1, 2, 3])], isErasing: false)
    #expect(try await vault.record().phase == .sealed)
    #expect(!folder.names.contains("plain.db"))
  }

  @Test func plainStoreMovesOverAndKeepsEveryValue() async throws {
    let folder = try VaultFolder()
    let values = (0..<40).map { (name: "name \($0)", value: [UInt8](repeating: UInt8($0), count: $0 * 7)) }
    do {
      let plain = try await folder.open(nil)
      try await plain.store.put(values, isErasing: false)
    }
    do {
      let first = try await folder.open(folder.source())
      #expect(try await first.record().phase == .plain)
      #expect(try await first.migrate(isImpatient: false).phase == .doubleWrite)
      #expect(try await first.verify().mismatches == 0)
      #expect(try await first.rollBack().phase == .plain)
      #expect(try await first.migrate(isImpatient: true).phase == .sealed)
    }
    let again = try await folder.open(folder.source())
    for (name, value) in values { #expect(try await again.store.get(name) == value) }
    #expect(!folder.names.contains { $0.hasPrefix("plain.db") })
    await #expect(throws: ControlError.self) { try await again.rollBack() }
  }

  @Test func aStartTakesTheDataKeyForItsStoreOnce() async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    for _ in 0..<3 {
      let vault = try await folder.open(folder.source())
      #expect(try await vault.record().phase == .sealed)
      #expect(vault.key?.timesTaken == 1)
    }
  }

  @Test func numbersLieWhereEarlierVersionsHadThem() async throws {
    let store = try await VaultFolder().open(nil).store
    let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
    let values = NodeValues.kept
    for (name, setting) in [
      ("state.counter", values.stateCounter), ("clock.floor", values.clockFloor),
      ("card.sequence", values.cardSequence),
    ] {
      try await store.put([(name, bytes)], isErasing: false)
      #expect(try await setting.value(in: store) == 0x0102_0304_0506_0708)
      try await setting.set(9, in: store)
      #expect(try await store.get(name) == [0, 0, 0, 0, 0, 0, 0, 9])
    }
  }

  @Test func aMoveSaysHowFarItIsAndNothingOnceItHasEnded() async throws {
    let folder = try VaultFolder()
    do { try await folder.open(nil).store.put([("name", [1])], isErasing: false) }
    let vault = try await folder.open(folder.source())
    #expect(vault.progress.now == nil)
    vault.progress.show(MigrationProgress(work: .copying, done: 64, total: 640))
    #expect(vault.progress.now == StoreProgress(work: .copying, done: 64, total: 640))
    vault.progress.show(MigrationProgress(work: .comparing, done: 1, total: 640))
    #expect(vault.progress.now == StoreProgress(work: .comparing, done: 1, total: 640))
    #expect(try await vault.migrate(isImpatient: true).phase == .sealed)
    #expect(vault.progress.now == nil)
  }

  @Test func threat16_lostLockedWrongAndChangedHoldersAreRefusedAndTouchNothing() async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    do { _ = try await folder.open(folder.source()) }
    let before = folder.contents
    #expect(await folder.refusal(nil) == 14, "nobody named what holds the key")
    #expect(await folder.refusal(folder.source(folder.path + "/elsewhere")) == 14, "it is not there")
    #expect(await folder.refusal(KeySource(.credential(name: "relay.kek"))) == 18, "another than recorded")
    let other = folder.path + "/other"
    try folder.writeKey("8", to: other)
    #expect(await folder.refusal(folder.source(other)) == 16, "the wrong one")
    #expect(folder.contents == before)
    let slots = folder.state + "/keys.v1"
    let kept = try #require(FileManager.default.contents(atPath: slots))
    var damaged = kept
    damaged[damaged.count - 1] ^= 1
    try damaged.write(to: URL(fileURLWithPath: slots))
    #expect(await folder.refusal(folder.source()) == 17, "damaged")
    try FileManager.default.removeItem(atPath: slots)
    #expect(await folder.refusal(folder.source()) == 12, "lost")
    try kept.write(to: URL(fileURLWithPath: slots))
    #expect(folder.contents == before)
    #expect(await folder.refusal(folder.source()) == nil)
  }

  @Test(arguments: ["store.db", "keys.v1"])
  func threat19_fileThatIsPutBackFromACopyIsRefused(name: String) async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    do { _ = try await folder.open(folder.source()) }
    let copy = folder.contents
    for _ in 0..<2 { _ = try await folder.open(folder.source()) }
    let file = URL(fileURLWithPath: folder.state + "/" + name)
    let kept = try Data(contentsOf: file)
    try #require(copy[name]).write(to: file)
    let before = folder.contents
    #expect(await folder.refusal(folder.source()) == 10)
    #expect(folder.contents == before)
    try kept.write(to: file)
    #expect(await folder.refusal(folder.source()) == nil)
  }

  /// The node may die between any two steps of a record.
  @Test func threat17_recordThatWasInterruptedIsNoCopy() async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    try await folder.run()
    for steps in 0...2 {
      for _ in 0..<3 {
        let slots = try #require(folder.contents["keys.v1"])
        let archive = try #require(folder.contents["archive.db"])
        let vault = try await folder.open(folder.source())
        let store = try #require(vault.migrating)
        let last = try await NodeValues.kept.stateCounter.value(in: store)
        try await StateRecorder.intend(last + 1, certain: last, in: store)
        if steps > 0 { try await vault.archive.remember(number: last + 1) }
        if steps > 1 {
          let custody = KeyCustody(directory: folder.state, surroundings: .system(environment: [:]))
          try vault.key?.lend { (key) throws(KeyingError) in try custody.count(to: last + 1, with: key) }
        }
        #expect(slots != folder.contents["keys.v1"] && !archive.isEmpty)
      }
      #expect(await folder.refusal(folder.source()) == nil, "\(steps)")
    }
  }
}
