import Archive
import Foundation
import Keying
import Primitives
import Storing
import TestKit
import Testing

@testable import NodeRuntime

/// Backups, restorations and wipes as the verbs do them, on real directories.
struct OfflineCommandTests {
  private final class Place {
    let path = NSTemporaryDirectory() + "offline-\(UUID().uuidString)"
    var state: String { path + "/state" }
    var backup: String { path + "/node.backup" }

    init() throws {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try (String(repeating: "7", count: 63) + "a").write(toFile: path + "/key", atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + "/key")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var key: String { "file:" + path + "/key" }

    /// Runs a verb; `{fd}` in a word is a descriptor that gives the passphrase.
    func run(_ words: [String], passphrase: String = "") -> Int32 {
      let pipe = Pipe()
      pipe.fileHandleForWriting.write(Data((passphrase + "\n").utf8))
      try? pipe.fileHandleForWriting.close()
      let number = "\(pipe.fileHandleForReading.fileDescriptor)"
      let words = words.map { $0.replacingOccurrences(of: "{fd}", with: number) }
      return OfflineCommand.run(words, environment: [:]) ?? -1
    }

    func open(_ keys: KeySource?, in directory: String? = nil) async throws -> StateVault {
      try await StateVault.open(
        StateDirectory(path: directory ?? state), keys: keys, environment: [:], wall: { 1_800_000_000_000 })
    }

    func files(_ directory: String) -> [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
    }

    var source: KeySource { KeySource(.file(path: path + "/key", isInsecureAllowed: false)) }
  }

  private static let values: [(name: String, value: [UInt8])] = (0..<30).map {
    (name: "name \($0)", value: [UInt8](repeating: UInt8($0), count: $0 * 40))
  }

  @Test(arguments: [true, false])
  func restoredNodeHasEveryValue(isSealed: Bool) async throws {
    let place = try Place()
    if isSealed { #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0) }
    let source = isSealed ? place.source : nil
    do { try await place.open(source).store.put(Self.values, isErasing: false) }
    let options = ["--state", place.state, "--backup-passphrase-fd", "{fd}"] + (isSealed ? ["--key", place.key] : [])
    #expect(place.run(["backup", place.backup] + options, passphrase: "open sesame") == 0)
    #expect(place.run(["backup", place.backup] + options, passphrase: "open sesame") == 2, "never over a file")
    let target = place.path + "/other"
    let restore = ["restore", place.backup, "--state", target, "--backup-passphrase-fd", "{fd}"]
    #expect(place.run(restore, passphrase: "open barley") == 16)
    #expect(place.run(restore + (isSealed ? ["--key", place.key] : []), passphrase: "open sesame") == 0)
    #expect(place.run(restore, passphrase: "open sesame") == 5, "never over a node")
    let restored = try await place.open(source, in: target)
    for (name, value) in Self.values { #expect(try await restored.store.get(name) == value) }
    #expect(!place.files(place.path).contains { $0.hasSuffix(".restoring") || $0.hasSuffix(".part") })
  }

  /// A node that runs may make a record between the moments at which its files were copied.
  @Test(arguments: ["keys.v1", "store.db", "archive.db"])
  func backupWhoseFilesAreOfDifferentMomentsIsANode(older: String) async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    do { try await place.open(place.source).recorder?.end() }
    let former = try Data(contentsOf: URL(fileURLWithPath: place.state + "/" + older))
    do {
      let vault = try await place.open(place.source)
      try await vault.store.put(Self.values, isErasing: false)
      try await vault.recorder?.end()
    }
    try former.write(to: URL(fileURLWithPath: place.state + "/" + older))
    let options = ["--state", place.state, "--backup-passphrase-fd", "{fd}", "--key", place.key]
    #expect(place.run(["backup", place.backup] + options, passphrase: "open sesame") == 0)
    let target = place.path + "/other"
    let restore = ["restore", place.backup, "--state", target, "--backup-passphrase-fd", "{fd}", "--key", place.key]
    #expect(place.run(restore, passphrase: "open sesame") == 0)
    #expect(place.files(target).sorted() == ["archive.db", "keys.v1", "store.db"])
    for _ in 0..<2 {
      let vault = try await place.open(place.source, in: target)
      #expect(try await vault.store.get("name 3") == (older == "store.db" ? nil : Self.values[3].value))
    }
  }

  @Test func backupThatIsNotAsItWasWrittenRestoresNothing() async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    do { try await place.open(place.source).store.put(Self.values, isErasing: false) }
    let options = ["--state", place.state, "--key", place.key, "--backup-passphrase-fd", "{fd}"]
    #expect(place.run(["backup", place.backup] + options, passphrase: "open sesame") == 0)
    let whole = try Data(contentsOf: URL(fileURLWithPath: place.backup))
    let damaged: [Data] = [
      whole.dropLast(1), whole.dropLast(whole.count / 2), whole + Data([0]),
      Data(whole.enumerated().map { $0.offset == whole.count / 2 ? $0.element ^ 1 : $0.element }),
    ]
    let target = place.path + "/other"
    for bytes in damaged {
      try bytes.write(to: URL(fileURLWithPath: place.backup))
      let restore = ["restore", place.backup, "--state", target, "--backup-passphrase-fd", "{fd}"]
      #expect(place.run(restore, passphrase: "open sesame") == 17)
      #expect(place.files(target) == ["lock"])
      #expect(!place.files(place.path).contains { $0.hasSuffix(".restoring") })
    }
  }

  /// It would take the place of a backup that is whole.
  @Test(arguments: ["store.db", "archive.db"], [true, false])
  func halfANodeIsNotBackedUp(lost: String, isEmptied: Bool) async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    for _ in 0..<2 {
      let vault = try await place.open(place.source)
      try await vault.store.put(Self.values, isErasing: false)
      try await vault.recorder?.end()
    }
    let path = place.state + "/" + lost
    try FileManager.default.removeItem(atPath: path)
    if isEmptied {
      #expect(FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]))
    }
    let options = ["--state", place.state, "--backup-passphrase-fd", "{fd}", "--key", place.key]
    #expect(place.run(["backup", place.backup] + options, passphrase: "open sesame") == 12)
    #expect(!place.files(place.path).contains("node.backup"))
  }

  @Test func aWipeThatIsToldOfTooManyFilesRemovesNone() throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    let names = (0...KeyingLimits.pathsInMarker).flatMap { ["--also", place.path + "/file \($0)"] }
    for number in 0...KeyingLimits.pathsInMarker {
      #expect(FileManager.default.createFile(atPath: place.path + "/file \(number)", contents: Data([1])))
    }
    let before = place.files(place.state)
    #expect(place.run(["wipe", "--state", place.state, "--yes"] + names) == 2)
    #expect(
      place.files(place.state) == before
        && place.files(place.path).filter { $0.hasPrefix("file") }.count == names.count / 2)
  }

  @Test func aNodeIsRestoredIntoADirectoryThatIsNamedWithASlash() async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    do { try await place.open(place.source).store.put(Self.values, isErasing: false) }
    let passphrase = ["--backup-passphrase-fd", "{fd}", "--key", place.key]
    #expect(place.run(["backup", place.backup, "--state", place.state] + passphrase, passphrase: "open sesame") == 0)
    let target = place.path + "/other/"
    #expect(place.run(["restore", place.backup, "--state", target] + passphrase, passphrase: "open sesame") == 0)
    #expect(place.files(target).contains("keys.v1"))
  }

  /// What lies beside is in the open where the backup is of a node that was.
  @Test func wipeTakesWhatAKilledRestoreHasLeftBeside() throws {
    let place = try Place()
    let staging = place.state + ".restoring"
    try FileManager.default.createDirectory(
      atPath: staging, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for name in ["plain.db", "archive.db"] {
      #expect(FileManager.default.createFile(atPath: staging + "/" + name, contents: Data("in the open".utf8)))
    }
    #expect(place.run(["wipe", "--state", place.state, "--yes"]) == 0)
    #expect(!FileManager.default.fileExists(atPath: staging))
    #expect(place.run(["wipe", "--state", place.state, "--yes"]) == 6)
  }

  @Test func wipeIsMeantLeavesNothingAndIsFinishedLater() async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    do { try await place.open(place.source).store.put(Self.values, isErasing: false) }
    #expect(place.run(["wipe", "--state", place.state]) == 2)
    #expect(place.files(place.state).contains("keys.v1"))
    #expect(place.run(["wipe", "--state", place.state, "--yes", "--also", place.path + "/key"]) == 0)
    #expect(!place.files(place.state).contains { $0 != "lock" })
    #expect(!place.files(place.path).contains("key"))
    #expect(place.run(["wipe", "--state", place.state, "--yes"]) == 6, "a second one finds no node")
    #expect(place.files(place.state).allSatisfy { $0 == "lock" })
  }

  @Test func wipeOfAPlaceWithoutANodeTouchesNothing() async throws {
    let place = try Place()
    #expect(place.run(["wipe", "--yes", "--state", place.path + "/typo"]) == 6)
    #expect(place.files(place.path) == ["key"], "nor is a directory made")
    // Files of these names that are of another program.
    let other = place.path + "/other"
    try FileManager.default.createDirectory(
      atPath: other, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    for name in ["archive.db", "store.db", "keys.v1.bak"] {
      try "SQLite format 3\0 of another program".write(
        toFile: other + "/" + name, atomically: false, encoding: .utf8)
    }
    let before = place.files(other).map { FileManager.default.contents(atPath: other + "/" + $0) }
    #expect(place.run(["wipe", "--yes", "--state", other]) == 6)
    #expect(place.files(other).map { FileManager.default.contents(atPath: other + "/" + $0) } == before)
  }

  @Test(arguments: [true, false]) func wipeTakesWhatIsANodeHoweverLittleOfItIsSound(isSealed: Bool) async throws {
    let place = try Place()
    if isSealed { #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0) }
    do { try await place.open(isSealed ? place.source : nil).store.put(Self.values, isErasing: false) }
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: place.state + "/archive.db"))
    #expect(place.run(["wipe", "--yes", "--state", place.state]) == 0)
    #expect(place.files(place.state) == ["lock"] || place.files(place.state).isEmpty)
  }

  @Test func wipeIsRefusedWhereAFileNamedBesidesIsMissingOrALink() async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    try FileManager.default.createSymbolicLink(
      atPath: place.path + "/link", withDestinationPath: place.path + "/key")
    for name in ["/none", "/link", "/state"] {
      #expect(place.run(["wipe", "--yes", "--state", place.state, "--also", place.path + name]) == 2, "\(name)")
    }
    #expect(place.files(place.state).contains("keys.v1") && place.files(place.path).contains("key"))
  }

  @Test func wipeOnADiskWithoutRoomIsMarkedInTheLockAndGoesOn() async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    do { try await place.open(place.source).store.put(Self.values, isErasing: false) }
    let mark = try #require(WipeMark(paths: [place.path + "/key"]))
    #expect(SpacelessMark.write(mark, in: place.state))
    let names = place.files(place.state)
    #expect(names.contains("wiping") && !names.contains("lock"))
    await #expect(throws: DaemonError.self) { _ = try await place.open(place.source) }
    try "x".write(toFile: place.path + "/more", atomically: false, encoding: .utf8)
    #expect(
      place.run(["wipe", "--yes", "--state", place.state, "--also", place.path + "/more"]) == 1,
      "it was not named when the wipe began")
    #expect(!place.files(place.state).contains { $0 != "lock" })
    #expect(place.files(place.path) == ["more", "state"])
  }

  @Test(arguments: [true, false]) func backupLeavesNothingInTheStateAndNeedsNoRoomThere(isSealed: Bool) async throws {
    let place = try Place()
    if isSealed { #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0) }
    do { try await place.open(isSealed ? place.source : nil).store.put(Self.values, isErasing: false) }
    let before = place.files(place.state)
    // Nothing can be made beside the databases.
    for name in ["plain.db", "store.db", "archive.db"] {
      for end in ["-shm", ".copy"] {
        try FileManager.default.createSymbolicLink(
          atPath: place.state + "/" + name + end, withDestinationPath: "/nowhere")
      }
    }
    let options = ["--state", place.state, "--backup-passphrase-fd", "{fd}"] + (isSealed ? ["--key", place.key] : [])
    #expect(place.run(["backup", place.backup] + options, passphrase: "open sesame") == 0)
    #expect(place.files(place.state).filter { !$0.hasSuffix("-shm") && !$0.hasSuffix(".copy") } == before)
    let target = place.path + "/other"
    let restore = ["restore", place.backup, "--state", target, "--backup-passphrase-fd", "{fd}"]
    #expect(place.run(restore + (isSealed ? ["--key", place.key] : []), passphrase: "open sesame") == 0)
    let restored = try await place.open(isSealed ? place.source : nil, in: target)
    for (name, value) in Self.values { #expect(try await restored.store.get(name) == value) }
  }

  @Test func copiesThatAnEarlierVersionLeftAreRemoved() throws {
    let place = try Place()
    try FileManager.default.createDirectory(atPath: place.state, withIntermediateDirectories: false)
    for name in ["plain.db.copy", "archive.db.copy", "archive.db.copy-journal", "archive.db", "notes.copy"] {
      try "in the clear".write(toFile: place.state + "/" + name, atomically: false, encoding: .utf8)
    }
    #expect(
      BackupLeftovers.remove(from: place.state) == ["plain.db.copy", "archive.db.copy", "archive.db.copy-journal"])
    #expect(place.files(place.state) == ["archive.db", "notes.copy"])
    #expect(BackupLeftovers.remove(from: place.state).isEmpty)
  }

  @Test func waysToTheKeysAreAddedAndTakenAway() async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    do { try await place.open(place.source).store.put(Self.values, isErasing: false) }
    let keys = ["--state", place.state, "--key", place.key]
    #expect(place.run(["keys", "remove", "1"] + keys) == 2, "the last one stays")
    #expect(
      place.run(["keys", "add", "--new", "passphrase", "--new-passphrase-fd", "{fd}"] + keys, passphrase: "sesame") == 0
    )
    #expect(place.run(["keys", "remove", "1"] + keys) == 0)
    await #expect(throws: (any Error).self) { _ = try await place.open(place.source) }
    let pipe = Pipe()
    pipe.fileHandleForWriting.write(Data("sesame\n".utf8))
    let vault = try await place.open(KeySource(.passphrase(descriptor: pipe.fileHandleForReading.fileDescriptor)))
    #expect(try await vault.store.get("name 3") == Self.values[3].value)
  }

  @Test func ofAPassphraseTheFirstLineCountsAndTooLongIsToldWithItsSize() throws {
    func read(_ text: String) throws -> Int? {
      let pipe = Pipe()
      pipe.fileHandleForWriting.write(Data(text.utf8))
      try pipe.fileHandleForWriting.close()
      return PassphraseInput.read(descriptor: pipe.fileHandleForReading.fileDescriptor, prompt: "")?.count
    }
    #expect(try read("sesame\nsecond line\n") == 6)
    #expect(try read("sesame") == 6)
    #expect(try read(String(repeating: "a", count: 1_024) + "\n") == 1_024)
    #expect(try read(String(repeating: "a", count: 5_000) + "\nmore") == 5_000)
    #expect(try read(String(repeating: "a", count: 1_025)) == 1_025)
    let place = try Place()
    let options = ["--state", place.state, "--key", "passphrase", "--passphrase-fd", "{fd}"]
    #expect(place.run(["init"] + options, passphrase: String(repeating: "a", count: 2_000)) == 2)
    #expect(!place.files(place.state).contains("keys.v1"))
  }
}
