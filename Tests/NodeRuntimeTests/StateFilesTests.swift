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

/// Files of a sealed state that are lost, foreign, plain, damaged or put back: refused, and every byte as it was.
struct StateFilesTests {
  @Test(arguments: ["store.db", "archive.db"], [true, false])
  func threat16_lostOrEmptiedFileIsRefused(name: String, isEmptied: Bool) async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    try await folder.run { try await $0.store.put([("a", [1])], isErasing: false) }
    let kept = try #require(folder.contents[name])
    if isEmptied {
      try folder.put(Data(), name)
    } else {
      try FileManager.default.removeItem(atPath: folder.state + "/" + name)
    }
    let before = folder.contents
    for _ in 0..<2 { #expect(await folder.refusal(folder.source()) == 12) }
    #expect(folder.contents == before)
    try folder.put(kept, name)
    #expect(await folder.refusal(folder.source()) == nil)
  }

  @Test func historyThatIsLostMayBeginAnewOnAPersonsWord() async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    try await folder.run { try await $0.store.put([("a", [1])], isErasing: false) }
    let kept = try #require(folder.contents["archive.db"])
    let salvage = ["salvage", "--begin-anew", "--state", folder.state, "--key", "file:" + folder.keyPath]
    #expect(OfflineCommand.run(salvage, environment: [:]) == 5, "not while it is there")
    try FileManager.default.removeItem(atPath: folder.state + "/archive.db")
    #expect(OfflineCommand.run(Array(salvage.dropLast(2)), environment: [:]) == 14)
    #expect(OfflineCommand.run(salvage, environment: [:]) == 0)
    try await folder.run { vault in
      let kept = try await vault.store.get("a")
      #expect(kept == [1])
    }
    try FileManager.default.removeItem(atPath: folder.state + "/archive.db")
    #expect(await folder.refusal(folder.source()) == 12, "the word was for once")
    try folder.put(kept, "archive.db")
    #expect(await folder.refusal(folder.source()) == 10)
  }

  @Test func threat16_plainOrForeignFileBesideASealedStoreIsRefused() async throws {
    let (folder, plain, other) = (try VaultFolder(), try VaultFolder(), try VaultFolder())
    #expect(folder.initialise() == 0 && other.initialise() == 0)
    try await folder.run()
    try await other.run()
    do { try await plain.open(nil).store.put([("a", [1])], isErasing: false) }
    let own = folder.contents
    for (name, content, code) in [
      ("archive.db", plain.contents["archive.db"], 11), ("archive.db", other.contents["archive.db"], 11),
      ("plain.db", plain.contents["plain.db"], 11), ("store.db", other.contents["store.db"], 11),
      ("keys.v1", other.contents["keys.v1"], 11),
    ] as [(String, Data?, Int32)] {
      try folder.put(try #require(content), name)
      let before = folder.contents
      #expect(await folder.refusal(folder.source()) == code, "\(name)")
      #expect(folder.contents == before)
      try FileManager.default.removeItem(atPath: folder.state + "/" + name)
      if let kept = own[name] { try folder.put(kept, name) }
    }
    // A sealed history is the mark of a sealed store, whoever took that away.
    try FileManager.default.removeItem(atPath: folder.state + "/store.db")
    try folder.put(try #require(plain.contents["plain.db"]), "plain.db")
    let before = folder.contents
    #expect(await folder.refusal(folder.source()) == 11)
    #expect(folder.contents == before)
  }

  @Test func threat17_truncatedStoreIsDamagedAndStaysAsItIs() async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    try await folder.run()
    let kept = try #require(folder.contents["store.db"])
    try folder.put(kept.prefix(kept.count / 2), "store.db")
    let before = folder.contents
    #expect(await folder.refusal(folder.source()) == 17)
    #expect(folder.contents == before)
  }

  /// What a killed node leaves has its logs, and who refuses it does not copy them back.
  @Test func threat19_refusalAfterAKillLeavesTheLogsAsTheyAre() async throws {
    let (folder, other) = (try VaultFolder(), try VaultFolder())
    #expect(folder.initialise() == 0 && other.initialise() == 0)
    try await folder.run()
    try await other.run()
    let early = folder.contents
    var killed: [String: Data] = [:]
    try await folder.run { vault in
      try await vault.store.put([("a", [1])], isErasing: false)
      killed = folder.contents
    }
    #expect(killed.keys.contains("store.db-wal") && killed.keys.contains("archive.db-wal"))
    for (name, content, codes) in [
      ("keys.v1", early["keys.v1"], [10]), ("keys.v1", other.contents["keys.v1"], [11]),
      ("archive.db", nil, [12]), ("archive.db", Data(), [12]), ("store.db", Data(), [12]),
      ("archive.db", other.contents["archive.db"], [11]),
      ("archive.db", early["archive.db"], [10]), ("store.db", early["store.db"], [10]),
      ("store.db", nil, [12]), ("store.db", other.contents["store.db"], [11]), (nil, nil, []),
    ] as [(String?, Data?, [Int32])] {
      for name in folder.names where name != "lock" {
        try FileManager.default.removeItem(atPath: folder.state + "/" + name)
      }
      for (name, content) in killed { try folder.put(content, name) }
      guard let name else { break }
      // A database is put back without the log of another; one that is emptied has its own.
      for part in folder.names where content?.isEmpty == true ? part == name : part.hasPrefix(name) {
        try FileManager.default.removeItem(atPath: folder.state + "/" + part)
      }
      if let content { try folder.put(content, name) }
      let before = folder.contents
      let refusal = try #require(await folder.refusal(folder.source()), "\(name)")
      #expect(codes.contains(refusal), "\(name): \(refusal)")
      #expect(folder.contents == before, "\(name)")
    }
    try await folder.run { vault in
      let kept = try await vault.store.get("a")
      #expect(kept == [1])
    }
  }

  @Test func plainStoreThatIsLostOnTheWayIsRefused() async throws {
    let folder = try VaultFolder()
    do { try await folder.open(nil).store.put([("a", [1])], isErasing: false) }
    var killed: [String: Data] = [:]
    try await folder.run { vault in
      _ = try await vault.migrate(isImpatient: false)
      killed = folder.contents
    }
    for (name, content) in killed { try folder.put(content, name) }
    for name in folder.names where name.hasPrefix("plain.db") {
      try FileManager.default.removeItem(atPath: folder.state + "/" + name)
    }
    let before = folder.contents
    #expect(await folder.refusal(folder.source()) == 12)
    #expect(folder.contents == before && before.keys.contains("store.db-wal"))
    for (name, content) in killed { try folder.put(content, name) }
    #expect(await folder.refusal(folder.source()) == nil)
  }

  /// (a) a copy that was made while the node ran, (b) two files of the session before.
  @Test(arguments: [["archive.db"], ["store.db"], ["keys.v1", "archive.db"], ["keys.v1", "store.db"], ["keys.v1"]])
  func threat19_filesOfBeforeTheLastRecordAreRefused(names: [String]) async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    try await folder.run()
    var copies: [[String: Data]] = [folder.contents]
    try await folder.run { vault in
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
      for name in names { try folder.put(try #require(copy[name]), name) }
      let before = folder.contents
      #expect(await folder.refusal(folder.source()) == 10, "copy \(index)")
      #expect(folder.contents == before)
      for name in names { try folder.put(try #require(now[name]), name) }
    }
    #expect(await folder.refusal(folder.source()) == nil)
  }

  @Test func threat19_keyThatWasTakenAwayOpensNothingWithTheFormerSlotFile() async throws {
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    let other = folder.path + "/other"
    try folder.writeKey("8", to: other)
    let verb = ["--state", folder.state, "--key", "file:" + other]
    #expect(
      OfflineCommand.run(
        ["keys", "add", "--new", "file:" + other, "--state", folder.state, "--key", "file:" + folder.keyPath],
        environment: [:]) == 0, "also before the first start")
    try await folder.run()
    let former = try #require(folder.contents["keys.v1"])
    #expect(OfflineCommand.run(["keys", "remove", "1"] + verb, environment: [:]) == 0)
    let now = folder.contents
    #expect(OfflineCommand.run(["keys", "remove", "1"] + verb, environment: [:]) == 2)
    #expect(folder.contents == now, "what is refused changes nothing")
    #expect(await folder.refusal(folder.source()) == 16)
    try folder.put(former, "keys.v1")
    #expect(await folder.refusal(folder.source()) == 10)
    #expect(OfflineCommand.run(["keys", "remove", "1"] + verb, environment: [:]) == 10)
    try folder.put(try #require(now["keys.v1"]), "keys.v1")
    #expect(await folder.refusal(folder.source(other)) == nil)
  }

  @Test(arguments: [0, 1, 2])
  func aWayToTheKeysIsAddedInEveryPhaseOfTheMove(phase: Int) async throws {
    let folder = try VaultFolder()
    do { try await folder.open(nil).store.put([("a", [1])], isErasing: false) }
    try await folder.run { vault in
      if phase > 0 { _ = try await vault.migrate(isImpatient: phase > 1) }
    }
    let other = folder.path + "/other"
    try folder.writeKey("8", to: other)
    let verb = ["keys", "add", "--new", "file:" + other, "--state", folder.state, "--key", "file:" + folder.keyPath]
    let former = try #require(folder.contents["keys.v1"])
    for _ in 0..<2 { #expect(OfflineCommand.run(verb, environment: [:]) == 0) }
    let now = try #require(folder.contents["keys.v1"])
    try folder.put(former, "keys.v1")
    #expect(await folder.refusal(folder.source()) == 10)
    try folder.put(now, "keys.v1")
    for _ in 0..<2 {
      try await folder.run { vault in
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
    let folder = try VaultFolder()
    #expect(folder.initialise() == 0)
    try await folder.run()
    let whole = folder.contents
    for names in [["store.db", "archive.db"], ["store.db"], ["archive.db"]] {
      for name in folder.names { try FileManager.default.removeItem(atPath: folder.state + "/" + name) }
      for name in names { try folder.put(try #require(whole[name]), name) }
      for keys in [nil, folder.source()] {
        #expect(await folder.refusal(keys) == 12, "\(names)")
        #expect(folder.names.filter { $0 != "lock" } == names.sorted())
      }
    }
    for (name, content) in whole { try folder.put(content, name) }
    #expect(await folder.refusal(nil) == 14)
    #expect(await folder.refusal(folder.source()) == nil)
  }

  @Test func statusNamesWhatLiesOpenUntilNothingDoes() async throws {
    let folder = try VaultFolder()
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
}
