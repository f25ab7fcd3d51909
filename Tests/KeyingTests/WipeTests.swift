import Bytes
import Glibc
import TestKit
import Testing

@testable import Keying

@Suite struct WipeTests {
  private func fullDisk() throws -> MemoryFileSystem {
    let (disk, _) = try madeDisk()
    let quarantine = MemoryFileSystem(directories: [
      state, state + "/quarantine", "/run/credentials", "/keys", "/backup",
    ])
    for (path, bytes) in disk.contents { quarantine.put(path, bytes) }
    for name in [
      "keys.v1.bak", "keys.v1.tmp", "plain.db-shm", "inbox.db", "control.sock", "quarantine/store.db-1", "notes.txt",
    ] {
      quarantine.put(state + "/" + name, Array("content of \(name)".utf8))
    }
    quarantine.put(state + "/relay.kek", fileKey)
    return quarantine
  }

  @Test func everythingGoesAndTheReportSaysSo() throws {
    let disk = try fullDisk()
    let before = disk.contents
    let report = try custody(disk).wipe(named: [state + "/relay.kek", "/run/credentials/relay.kek"])
    #expect(report.isComplete && !report.isResumed)
    #expect(disk.contents.keys.filter { $0.hasPrefix(state) } == [state + "/notes.txt"])
    #expect(report.remaining == ["notes.txt"])
    #expect(report.left == [.init(path: state + "/notes.txt", reason: .unknown)])
    #expect(disk.contents["/run/credentials/relay.kek"] == nil)
    for entry in report.removed where !entry.path.hasSuffix("wiping") && !entry.path.hasSuffix("quarantine") {
      #expect(entry.size == before[entry.path]?.count, "\(entry.path)")
    }
    let erased = Set(report.removed.filter(\.isOverwritten).map(\.path))
    for name in [
      "keys.v1", "keys.v1.bak", "relay.kek", "plain.db", "plain.db-shm", "archive.db", "quarantine/store.db-1",
    ] {
      #expect(erased.contains(state + "/" + name), "\(name)")
    }
    // Once more: nothing to do, and nothing said.
    let again = try custody(disk).wipe()
    #expect(again.removed.map(\.path) == [state + "/wiping"])
    #expect(again.isComplete)
  }

  @Test func keysGoFirst() throws {
    let disk = try fullDisk()
    _ = try custody(disk).wipe()
    let log = disk.log
    let keys = try #require(log.firstIndex(of: "unlink \(state)/keys.v1"))
    let mark = try #require(log.firstIndex(of: "rename \(state)/wiping.tmp"))
    let synced = try #require(log[keys...].firstIndex(of: "syncDirectory \(state)"))
    let data = try #require(log.firstIndex(of: "unlink \(state)/archive.db"))
    #expect(mark < keys && keys < synced && synced < data)
    #expect(log.lastIndex(of: "unlink \(state)/wiping") ?? 0 > data)
  }

  @Test func unfinishedWipeIsFinishedByTheNextStart() throws {
    let disk = try fullDisk()
    disk.cut(at: 14)
    #expect(throws: KeyingError.self) { try custody(disk).wipe(named: ["/keys/relay.kek"]) }
    let next = disk.crashed(.forgetting)
    let before = next.contents
    #expect(throws: KeyingError.wipePending(directory: state)) {
      _ = try custody(next).open(with: .credential(), isCounted: false)
    }
    #expect(next.contents == before, "who only reads does not finish it")
    var report: WipeReport?
    do { _ = try custody(next).create(with: .credential()) } catch KeyingError.wiped(let finished) { report = finished }
    #expect(report?.isResumed == true && report?.isComplete == true)
    #expect(next.contents["/keys/relay.kek"] == nil)
    _ = try custody(next).create(with: .credential())
  }

  @Test func fileOfAnotherIsLeftAndSaid() throws {
    let disk = try fullDisk()
    disk.put("/run/credentials/relay.kek", credentialKey, owner: 0)
    let report = try custody(disk).wipe(named: ["/run/credentials/relay.kek", "/keys/none", "/keys"])
    #expect(!report.isComplete)
    #expect(report.left.contains(.init(path: "/run/credentials/relay.kek", reason: .notOurs(owner: 0))))
    #expect(disk.contents["/run/credentials/relay.kek"] == credentialKey)
  }

  @Test func fileOfTheNameAloneWipesNothing() throws {
    let disk = try fullDisk()
    disk.put(state + "/wiping", [])
    let before = disk.contents
    #expect(throws: KeyingError.markerCorrupt(path: state + "/wiping")) {
      _ = try custody(disk).open(with: .credential())
    }
    #expect(throws: KeyingError.markerCorrupt(path: state + "/wiping")) { try custody(disk).wipe() }
    #expect(disk.contents == before)
  }

  @Test func markIsReadAsItWasWritten() throws {
    for paths in [[], ["/a"], ["/a", "/ключ", "c"]] {
      let mark = try #require(WipeMark(paths: paths))
      #expect(try WipeMark(decoding: mark.encoded.rawSpan) == mark)
      for index in mark.encoded.indices {
        var bytes = mark.encoded
        bytes[index] ^= 0x10
        #expect(throws: WipeMark.Fault.malformed) { try WipeMark(decoding: bytes.rawSpan) }
        #expect(throws: WipeMark.Fault.malformed) {
          try WipeMark(decoding: mark.encoded.rawSpan.extracting(first: index))
        }
      }
    }
    #expect(WipeMark(paths: ["a", "b", "c", "d", "e"]) == nil)
    #expect(WipeMark(paths: [""]) == nil && WipeMark(paths: ["a\0"]) == nil)
  }

  @Test func diskThatTakesNoZerosGivesUpTheName() throws {
    let disk = try fullDisk()
    let log = try {
      let probe = disk.copy(); _ = try custody(probe).wipe(); return probe.log
    }()
    let write = try #require(log.firstIndex(of: "write \(state)/keys.v1"))
    disk.inject(.failing(EIO), at: write)
    let report = try custody(disk).wipe()
    #expect(report.removed.contains { $0.path == state + "/keys.v1" && !$0.isOverwritten })
    #expect(disk.contents[state + "/keys.v1"] == nil)
  }

  @Test func directoryInThePlaceOfAFileGoesToo() throws {
    let disk = MemoryFileSystem(directories: [state, state + "/plain.db.old", state + "/store.db"])
    disk.put(state + "/plain.db.old/copy", [1])
    let report = try custody(disk).wipe()
    #expect(report.isComplete && report.remaining.isEmpty && disk.contents.isEmpty)
  }

  @Test func whatComesBackForEverEndsTheWipe() {
    var plan = WipePlan(directory: state, named: [], isMarked: true)
    var rounds = 0
    while true {
      rounds += 1
      let steps = plan.next(seeing: ["store.db", "wiping"])
      #expect(!steps.contains(.remove(state + "/wiping")))
      if steps == [.giveUp(state)] { break }
      #expect(rounds < 20)
    }
  }

  @Test func namesAreKnown() {
    for (name, kind) in [
      ("keys.v1", StateInventory.Kind.keys), ("keys.v1.bak", .keys), ("plain.db", .plain), ("plain.db-wal", .plain),
      ("archive.db-shm", .archive), ("store.db.corrupt", .sealed), ("quarantine", .archive), ("lock", .passing),
      ("wiping", .mark),
    ] { #expect(StateInventory.kind(of: name) == kind, "\(name)") }
    for name in ["notes.txt", "keys.v2", "plain.dbx", "store", ""] { #expect(StateInventory.kind(of: name) == nil) }
  }
}
