import Bytes
import Glibc
import Primitives
import TestKit
import Testing

@testable import Keying

/// A directory of its own for one test, gone afterwards.
final class TemporaryDirectory {
  let path: String

  init() {
    let number = UInt64.random(in: 0...UInt64.max)
    path = "/tmp/relaychat-keying-\(String(number, radix: 16))"
    unsafe mkdir(path, 0o700)
    unsafe mkdir(path + "/state", 0o700)
  }

  deinit {
    for name in (try? SystemFileSystem().names(in: path)) ?? [] { unsafe unlink(path + "/" + name) }
    for name in (try? SystemFileSystem().names(in: path + "/state")) ?? [] { unsafe unlink(path + "/state/" + name) }
    unsafe rmdir(path + "/state/quarantine")
    unsafe rmdir(path + "/state")
    unsafe rmdir(path)
  }
}

@Suite struct SystemFileSystemTests {
  private let directory = TemporaryDirectory()
  private let disk = SystemFileSystem()
  private var state: String { directory.path + "/state" }
  private var kek: String { directory.path + "/relay.kek" }

  private func custody(_ seed: UInt64) -> KeyCustody {
    KeyCustody(directory: state, surroundings: surroundings(disk, seed: seed))
  }

  @Test func lifeOfASlotFileOnARealDisk() throws {
    try DurableFile.write(kek, Array(Hex.encode(fileKey).utf8), in: disk)
    let key = hex(try custody(1).create(with: .keyFile(kek)).dataKey)
    try custody(2).addSlot(for: passphrase("words"), openedBy: .keyFile(kek))
    let opened = try custody(3).open(with: passphrase("words"))
    #expect(hex(opened.dataKey) == key && opened.stateCounter == 2)
    #expect(try disk.names(in: state) == ["keys.v1"])
    #expect(try disk.facts(of: state + "/keys.v1")?.mode == 0o600)

    unsafe chmod(kek, 0o640)
    #expect(throws: KeyingError.providerUnfit(.keyFile, place: kek, .openToOthers(mode: 0o640))) {
      _ = try custody(4).open(with: .keyFile(kek))
    }
    unsafe chmod(kek, 0o600)
    unsafe mkdir(state + "/quarantine", 0o700)
    for name in ["store.db", "plain.db", "lock", "quarantine/old"] {
      try DurableFile.write(state + "/" + name, [UInt8](repeating: 9, count: 100_000), in: disk)
    }
    let report = try custody(5).wipe(named: [kek])
    #expect(report.isComplete && report.remaining.isEmpty)
    #expect(try disk.names(in: state).isEmpty)
    #expect(try disk.facts(of: kek) == nil)
  }

  @Test func linkThatLeadsOutsideIsNotFollowed() throws {
    try DurableFile.write(kek, [1, 2, 3], in: disk)
    unsafe symlink(kek, state + "/plain.db")
    unsafe symlink(directory.path, state + "/quarantine")
    let report = try custody(1).wipe()
    #expect(report.remaining.isEmpty)
    #expect(try DurableFile.read(kek, limit: 10, in: disk) == [1, 2, 3])
  }

  @Test func keyFileBehindALinkIsStillBesideTheData() throws {
    try DurableFile.write(state + "/inner.kek", fileKey, in: disk)
    unsafe symlink(state + "/inner.kek", kek)
    #expect(throws: KeyingError.providerUnfit(.keyFile, place: kek, .besideData)) {
      _ = try custody(1).create(with: .keyFile(kek))
    }
  }

  @Test func backupOnARealDiskComesBack() throws {
    let path = directory.path + "/backup"
    var writer = try BackupWriter(
      path: path, passphrase: secret("words"), wallMilliseconds: 1, surroundings: surroundings(disk))
    try writer.entry("a", [UInt8](repeating: 3, count: 100_000).rawSpan)
    try writer.finish()
    var reader = try BackupReader(path: path, passphrase: secret("words"), surroundings: surroundings(disk))
    var count = 0
    while let part = try reader.next() { if case .bytes(let bytes) = part { count += bytes.count } }
    #expect(count == 100_000)
    #expect(try disk.facts(of: path)?.mode == 0o600 && (try disk.facts(of: path + ".part")) == nil)
  }

  @Test func errorsCarryTheirNumber() throws {
    #expect(throws: FileSystemError(.open, path: "/none/file", code: ENOENT)) {
      try disk.open("/none/file", for: .create)
    }
    #expect(throws: FileSystemError(.syncDirectory, path: "/none", code: ENOENT)) { try disk.syncDirectory("/none") }
    #expect(try disk.facts(of: "/none") == nil && (try disk.names(in: "/none")).isEmpty)
    #expect(try DurableFile.read("/none", limit: 4, in: disk) == nil)
    #expect(DurableFile.directory(of: "/a/b") == "/a" && DurableFile.directory(of: "/a") == "/")
    #expect(DurableFile.directory(of: "a") == ".")
  }
}
