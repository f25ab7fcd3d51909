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
  private final class Folder {
    let path = NSTemporaryDirectory() + "vault-\(UUID().uuidString)"
    let keyPath: String

    init() throws {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      keyPath = path + "/key"
      try writeKey("7", to: keyPath)
    }

    func writeKey(_ digit: String, to path: String) throws {
      // Not all alike, or it would be no key.
      try (String(repeating: digit, count: 63) + "a").write(toFile: path, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var state: String { path + "/state" }
    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: state)) ?? []).sorted() }

    /// Every file, for the proof that nothing was touched.
    var contents: [String: Data] {
      Dictionary(
        uniqueKeysWithValues: names.filter { $0 != "lock" }.map { name in
          (name, FileManager.default.contents(atPath: state + "/" + name) ?? Data())
        })
    }

    func source(_ path: String? = nil) -> KeySource {
      KeySource(.file(path: path ?? keyPath, isInsecureAllowed: false))
    }

    func open(_ keys: KeySource?) async throws -> StateVault {
      try await StateVault.open(
        StateDirectory(path: state), keys: keys, environment: [:], wall: { 1_800_000_000_000 })
    }

    func initialise() -> Int32 {
      OfflineCommand.run(["init", "--state", state, "--key", "file:" + keyPath], environment: [:]) ?? -1
    }

    func refusal(_ keys: KeySource?) async -> Int32? {
      do {
        _ = try await open(keys)
        return nil
      } catch { return (error as? DaemonError)?.exitCode }
    }
  }

  @Test func withoutAKeyAnEmptyDirectoryIsKeptPlainlyAndSaysSo() async throws {
    let folder = try Folder()
    let vault = try await folder.open(nil)
    #expect(vault.migrating == nil && vault.protection == .none)
    #expect(try await vault.record().protection == .none)
    #expect(folder.names.contains("plain.db") && !folder.names.contains("keys.v1"))
  }

  @Test func threat16_onlyInitMakesKeysAndMakesThemOnce() async throws {
    let folder = try Folder()
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
    let folder = try Folder()
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
    let folder = try Folder()
    #expect(folder.initialise() == 0)
    for _ in 0..<3 {
      let vault = try await folder.open(folder.source())
      #expect(try await vault.record().phase == .sealed)
      #expect(vault.key?.timesTaken == 1)
    }
  }

  @Test func numbersLieWhereEarlierVersionsHadThem() async throws {
    let store = try await Folder().open(nil).store
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
    let folder = try Folder()
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
    let folder = try Folder()
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
    let folder = try Folder()
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

  /// Runs a node to its end.
  private static func run(_ folder: Folder, during body: (StateVault) async throws -> Void = { _ in }) async throws {
    let vault = try await folder.open(folder.source())
    try await body(vault)
    try await vault.recorder?.end()
  }

  private static func put(_ content: Data, _ name: String, in folder: Folder) throws {
    try content.write(to: URL(fileURLWithPath: folder.state + "/" + name))
  }

  @Test(arguments: ["store.db", "archive.db"], [true, false])
  func threat16_lostOrEmptiedFileIsRefused(name: String, isEmptied: Bool) async throws {
    let folder = try Folder()
    #expect(folder.initialise() == 0)
    try await Self.run(folder) { try await $0.store.put([("a", [1])], isErasing: false) }
    let kept = try #require(folder.contents[name])
    if isEmptied {
      try Self.put(Data(), name, in: folder)
    } else {
      try FileManager.default.removeItem(atPath: folder.state + "/" + name)
    }
    let before = folder.contents
    for _ in 0..<2 { #expect(await folder.refusal(folder.source()) == 12) }
    #expect(folder.contents == before)
    try Self.put(kept, name, in: folder)
    #expect(await folder.refusal(folder.source()) == nil)
  }

  @Test func historyThatIsLostMayBeginAnewOnAPersonsWord() async throws {
    let folder = try Folder()
    #expect(folder.initialise() == 0)
    try await Self.run(folder) { try await $0.store.put([("a", [1])], isErasing: false) }
    let kept = try #require(folder.contents["archive.db"])
    let salvage = ["salvage", "--begin-anew", "--state", folder.state, "--key", "file:" + folder.keyPath]
    #expect(OfflineCommand.run(salvage, environment: [:]) == 5, "not while it is there")
    try FileManager.default.removeItem(atPath: folder.state + "/archive.db")
    #expect(OfflineCommand.run(Array(salvage.dropLast(2)), environment: [:]) == 14)
    #expect(OfflineCommand.run(salvage, environment: [:]) == 0)
    try await Self.run(folder) { vault in
      let kept = try await vault.store.get("a")
      #expect(kept == [1])
    }
    try FileManager.default.removeItem(atPath: folder.state + "/archive.db")
    #expect(await folder.refusal(folder.source()) == 12, "the word was for once")
    try Self.put(kept, "archive.db", in: folder)
    #expect(await folder.refusal(folder.source()) == 10)
  }

  @Test func threat16_plainOrForeignFileBesideASealedStoreIsRefused() async throws {
    let (folder, plain, other) = (try Folder(), try Folder(), try Folder())
    #expect(folder.initialise() == 0 && other.initialise() == 0)
    try await Self.run(folder)
    try await Self.run(other)
    do { try await plain.open(nil).store.put([("a", [1])], isErasing: false) }
    let own = folder.contents
    for (name, content, code) in [
      ("archive.db", plain.contents["archive.db"], 11), ("archive.db", other.contents["archive.db"], 11),
      ("plain.db", plain.contents["plain.db"], 11), ("store.db", other.contents["store.db"], 11),
      ("keys.v1", other.contents["keys.v1"], 11),
    ] as [(String, Data?, Int32)] {
      try Self.put(try #require(content), name, in: folder)
      let before = folder.contents
      #expect(await folder.refusal(folder.source()) == code, "\(name)")
      #expect(folder.contents == before)
      try FileManager.default.removeItem(atPath: folder.state + "/" + name)
      if let kept = own[name] { try Self.put(kept, name, in: folder) }
    }
    // A sealed history is the mark of a sealed store, whoever took that away.
    try FileManager.default.removeItem(atPath: folder.state + "/store.db")
    try Self.put(try #require(plain.contents["plain.db"]), "plain.db", in: folder)
    let before = folder.contents
    #expect(await folder.refusal(folder.source()) == 11)
    #expect(folder.contents == before)
  }

  @Test func threat17_truncatedStoreIsDamagedAndStaysAsItIs() async throws {
    let folder = try Folder()
    #expect(folder.initialise() == 0)
    try await Self.run(folder)
    let kept = try #require(folder.contents["store.db"])
    try Self.put(kept.prefix(kept.count / 2), "store.db", in: folder)
    let before = folder.contents
    #expect(await folder.refusal(folder.source()) == 17)
    #expect(folder.contents == before)
  }

  /// What a killed node leaves has its logs, and who refuses it does not copy them back.
  @Test func threat19_refusalAfterAKillLeavesTheLogsAsTheyAre() async throws {
    let (folder, other) = (try Folder(), try Folder())
    #expect(folder.initialise() == 0 && other.initialise() == 0)
    try await Self.run(folder)
    try await Self.run(other)
    let early = folder.contents
    var killed: [String: Data] = [:]
    try await Self.run(folder) { vault in
      try await vault.store.put([("a", [1])], isErasing: false)
      killed = folder.contents
    }
    #expect(killed.keys.contains("store.db-wal") && killed.keys.contains("archive.db-wal"))
    for (name, content, codes) in [
      ("keys.v1", early["keys.v1"], [10]), ("keys.v1", other.contents["keys.v1"], [11]),
      ("archive.db", nil, [12]), ("archive.db", other.contents["archive.db"], [11]),
      ("archive.db", early["archive.db"], [10]), ("store.db", early["store.db"], [10]),
      ("store.db", nil, [12]), ("store.db", other.contents["store.db"], [11]), (nil, nil, []),
    ] as [(String?, Data?, [Int32])] {
      for name in folder.names where name != "lock" {
        try FileManager.default.removeItem(atPath: folder.state + "/" + name)
      }
      for (name, content) in killed { try Self.put(content, name, in: folder) }
      guard let name else { break }
      // A database is put back without the log of another.
      for part in folder.names where part.hasPrefix(name) {
        try FileManager.default.removeItem(atPath: folder.state + "/" + part)
      }
      if let content { try Self.put(content, name, in: folder) }
      let before = folder.contents
      let refusal = try #require(await folder.refusal(folder.source()), "\(name)")
      #expect(codes.contains(refusal), "\(name): \(refusal)")
      #expect(folder.contents == before, "\(name)")
    }
    try await Self.run(folder) { vault in
      let kept = try await vault.store.get("a")
      #expect(kept == [1])
    }
  }

  /// (a) a copy that was made while the node ran, (b) two files of the session before.
  @Test(arguments: [["archive.db"], ["store.db"], ["keys.v1", "archive.db"], ["keys.v1", "store.db"], ["keys.v1"]])
  func threat19_filesOfBeforeTheLastRecordAreRefused(names: [String]) async throws {
    let folder = try Folder()
    #expect(folder.initialise() == 0)
    try await Self.run(folder)
    var copies: [[String: Data]] = [folder.contents]
    try await Self.run(folder) { vault in
      try await vault.archive.checkpoint()
      try await vault.migrating?.checkpoint()
      copies.append(folder.contents)
      try await vault.store.put([("a", [1])], isErasing: false)
      try await vault.recorder?.recordIfWritten()
      try await vault.archive.checkpoint()
      try await vault.migrating?.checkpoint()
      copies.append(folder.contents)
    }
    let now = folder.contents
    for (index, copy) in copies.enumerated() {
      for name in names { try Self.put(try #require(copy[name]), name, in: folder) }
      let before = folder.contents
      #expect(await folder.refusal(folder.source()) == 10, "copy \(index)")
      #expect(folder.contents == before)
      for name in names { try Self.put(try #require(now[name]), name, in: folder) }
    }
    #expect(await folder.refusal(folder.source()) == nil)
  }

  @Test func threat19_keyThatWasTakenAwayOpensNothingWithTheFormerSlotFile() async throws {
    let folder = try Folder()
    #expect(folder.initialise() == 0)
    let other = folder.path + "/other"
    try folder.writeKey("8", to: other)
    let verb = ["--state", folder.state, "--key", "file:" + other]
    #expect(
      OfflineCommand.run(
        ["keys", "add", "--new", "file:" + other, "--state", folder.state, "--key", "file:" + folder.keyPath],
        environment: [:]) == 0, "also before the first start")
    try await Self.run(folder)
    let former = try #require(folder.contents["keys.v1"])
    #expect(OfflineCommand.run(["keys", "remove", "1"] + verb, environment: [:]) == 0)
    let now = folder.contents
    #expect(OfflineCommand.run(["keys", "remove", "1"] + verb, environment: [:]) == 2)
    #expect(folder.contents == now, "what is refused changes nothing")
    #expect(await folder.refusal(folder.source()) == 16)
    try Self.put(former, "keys.v1", in: folder)
    #expect(await folder.refusal(folder.source()) == 10)
    #expect(OfflineCommand.run(["keys", "remove", "1"] + verb, environment: [:]) == 10)
    try Self.put(try #require(now["keys.v1"]), "keys.v1", in: folder)
    #expect(await folder.refusal(folder.source(other)) == nil)
  }

  @Test(arguments: [0, 1, 2])
  func aWayToTheKeysIsAddedInEveryPhaseOfTheMove(phase: Int) async throws {
    let folder = try Folder()
    do { try await folder.open(nil).store.put([("a", [1])], isErasing: false) }
    try await Self.run(folder) { vault in
      if phase > 0 { _ = try await vault.migrate(isImpatient: phase > 1) }
    }
    let other = folder.path + "/other"
    try folder.writeKey("8", to: other)
    let verb = ["keys", "add", "--new", "file:" + other, "--state", folder.state, "--key", "file:" + folder.keyPath]
    let former = try #require(folder.contents["keys.v1"])
    for _ in 0..<2 { #expect(OfflineCommand.run(verb, environment: [:]) == 0) }
    let now = try #require(folder.contents["keys.v1"])
    try Self.put(former, "keys.v1", in: folder)
    #expect(await folder.refusal(folder.source()) == 10)
    try Self.put(now, "keys.v1", in: folder)
    for _ in 0..<2 {
      try await Self.run(folder) { vault in
        let mismatches = try await vault.verify().mismatches
        let kept = try await vault.store.get("a")
        #expect(mismatches == 0 && kept == [1])
      }
    }
    let vault = try await folder.open(folder.source(other))
    #expect(try await vault.migrate(isImpatient: true).phase == .sealed)
  }

  /// With every set of files that are there without the slot file.
  @Test func threat16_withoutKeysNothingBeginsBesideWhatTheyHaveSealed() async throws {
    let folder = try Folder()
    #expect(folder.initialise() == 0)
    try await Self.run(folder)
    let whole = folder.contents
    for names in [["store.db", "archive.db"], ["store.db"], ["archive.db"]] {
      for name in folder.names { try FileManager.default.removeItem(atPath: folder.state + "/" + name) }
      for name in names { try Self.put(try #require(whole[name]), name, in: folder) }
      for keys in [nil, folder.source()] {
        #expect(await folder.refusal(keys) == 12, "\(names)")
        #expect(folder.names.filter { $0 != "lock" } == names.sorted())
      }
    }
    for (name, content) in whole { try Self.put(content, name, in: folder) }
    #expect(await folder.refusal(nil) == 14)
    #expect(await folder.refusal(folder.source()) == nil)
  }

  @Test func statusNamesWhatLiesOpenUntilNothingDoes() async throws {
    let folder = try Folder()
    do {
      let plain = try await folder.open(nil)
      try await plain.store.put([("a", [1])], isErasing: false)
      try await plain.archive.save(Contact(peer: PeerID(high: 1, low: 2), name: try PeerName("ada")))
    }
    #expect(OfflineCommand.run(["salvage", "--state", folder.state], environment: [:]) == 0)
    let first = try await folder.open(folder.source())
    let quarantined = try #require(try await first.record().lyingOpen?.last)
    #expect(quarantined.hasPrefix("quarantine/archive.db."))
    #expect(try await first.record().lyingOpen == ["plain.db", "archive.db", quarantined])
    #expect(try await first.migrate(isImpatient: false).lyingOpen == ["plain.db", "archive.db", quarantined])
    #expect(try await first.migrate(isImpatient: true).lyingOpen == ["archive.db", quarantined])
    try await first.recorder?.end()
    let second = try await folder.open(folder.source())
    #expect(try await second.record().lyingOpen == ["archive.db", quarantined])
    _ = try await second.archive.sealAll()
    #expect(try await second.record().lyingOpen == [quarantined])
    try await second.recorder?.end()
    #expect(FileManager.default.fileExists(atPath: folder.state + "/" + quarantined))
    #expect(OfflineCommand.run(["salvage", "--erase-open", "--state", folder.state], environment: [:]) == 0)
    let third = try await folder.open(folder.source())
    #expect(try await third.record().lyingOpen == [])
    #expect(!FileManager.default.fileExists(atPath: folder.state + "/" + quarantined))
  }

  /// The node may die between any two steps of a record.
  @Test func threat17_recordThatWasInterruptedIsNoCopy() async throws {
    let folder = try Folder()
    #expect(folder.initialise() == 0)
    try await Self.run(folder)
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
