import Archive
import Foundation
import Keying
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

  @Test func wipeIsMeantLeavesNothingAndIsFinishedLater() async throws {
    let place = try Place()
    #expect(place.run(["init", "--state", place.state, "--key", place.key]) == 0)
    do { try await place.open(place.source).store.put(Self.values, isErasing: false) }
    #expect(place.run(["wipe", "--state", place.state]) == 2)
    #expect(place.files(place.state).contains("keys.v1"))
    #expect(place.run(["wipe", "--state", place.state, "--yes", "--also", place.path + "/key"]) == 0)
    #expect(!place.files(place.state).contains { $0 != "lock" })
    #expect(!place.files(place.path).contains("key"))
    #expect(place.run(["wipe", "--state", place.state, "--yes"]) == 0, "a second one finds nothing to do")
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
}
