import Bytes
import Glibc
import Primitives
import TestKit
import Testing

@testable import Keying

/// One change of the slot file or of what lies around it: from where, what is done, and what must hold whenever the
/// machine goes off in between.
struct Verb: Sendable {
  var name: String
  var start: @Sendable () throws -> (MemoryFileSystem, String)
  var run: @Sendable (MemoryFileSystem) throws -> Void
  /// What is lost on this disk, or nothing.
  var loss: @Sendable (MemoryFileSystem, String) -> String?
  /// Whether what was asked for is so: from the moment on that the call has returned.
  var isDone: @Sendable (MemoryFileSystem) -> Bool

  private static func refuses(_ disk: MemoryFileSystem, _ provider: borrowing KeyProvider) -> KeyingError? {
    do {
      _ = try custody(disk.copy()).open(with: provider, isCounted: false)
      return nil
    } catch { return error }
  }

  /// The file opens by one of these providers to the data key.
  private static func opens(_ disk: MemoryFileSystem, _ key: String, _ providers: [() -> KeyProvider]) -> String? {
    var errors: [String] = []
    for provider in providers {
      do {
        if try dataKey(disk.copy(), provider()) == key { return nil }
        return "another key"
      } catch {
        errors.append("\(error)")
      }
    }
    return errors.joined(separator: "; ")
  }

  static let create = Verb(
    name: "create", start: { (emptyDisk(), "") },
    run: { disk in _ = try custody(disk, seed: 7).create(with: .credential()) },
    loss: { disk, _ in
      // Nothing is there and keys may be made, or they are made.
      do {
        _ = try custody(disk.copy(), seed: 8).create(with: .credential())
        return nil
      } catch KeyingError.alreadyInitialised {
        do {
          _ = try custody(disk.copy()).open(with: .credential())
          return nil
        } catch { return "\(error)" }
      } catch { return "\(error)" }
    },
    isDone: { refuses($0, .credential()) == nil })

  static let migrate = Verb(
    name: "migrate",
    start: {
      let disk = emptyDisk()
      disk.put(state + "/plain.db", [1, 2, 3])
      return (disk, "")
    },
    run: { disk in _ = try custody(disk, seed: 7).create(with: .credential(), isMigration: true) },
    loss: { disk, _ in
      guard disk.contents[state + "/plain.db"] == [1, 2, 3] else { return "the plain store" }
      do {
        _ = try custody(disk.copy(), seed: 8).create(with: .credential(), isMigration: true)
        return nil
      } catch KeyingError.alreadyInitialised {
        do {
          _ = try custody(disk.copy()).open(with: .credential())
          return nil
        } catch { return "\(error)" }
      } catch { return "\(error)" }
    },
    isDone: { refuses($0, .credential()) == nil })

  static let open = Verb(
    name: "open", start: { try madeDisk() }, run: { disk in _ = try custody(disk).open(with: passphrase("old")) },
    loss: { disk, key in
      opens(disk, key, [{ .credential() }]) ?? opens(disk, key, [{ passphrase("old") }])
    },
    isDone: { (try? custody($0.copy()).open(with: .credential(), isCounted: false).stateCounter) == 2 })

  static let addSlot = Verb(
    name: "add slot", start: { try madeDisk() },
    run: { disk in try custody(disk, seed: 7).addSlot(for: passphrase("more"), openedBy: .credential()) },
    loss: { disk, key in
      opens(disk, key, [{ .credential() }]) ?? opens(disk, key, [{ passphrase("old") }])
    },
    isDone: { refuses($0, passphrase("more")) == nil })

  static let removeSlot = Verb(
    name: "remove slot", start: { try madeDisk() },
    run: { disk in try custody(disk).removeSlot(1, of: .passphrase, openedBy: .credential()) },
    loss: { disk, key in opens(disk, key, [{ .credential() }]) },
    isDone: { refuses($0, passphrase("old")) == .providerChanged(asked: .passphrase, recorded: [.credential]) })

  static let changePassphrase = Verb(
    name: "change passphrase", start: { try madeDisk() },
    run: { disk in try custody(disk, seed: 7).replaceSlot(openedBy: passphrase("old"), with: passphrase("new")) },
    loss: { disk, key in
      opens(disk, key, [{ passphrase("old") }, { passphrase("new") }]) ?? opens(disk, key, [{ .credential() }])
    },
    isDone: { refuses($0, passphrase("new")) == nil && refuses($0, passphrase("old")) == .wrongKey(.passphrase) })

  static let wipe = Verb(
    name: "wipe",
    start: {
      let (disk, key) = try madeDisk()
      try custody(disk).addSlot(for: .keyFile("/keys/relay.kek"), openedBy: .credential())
      return (disk.copy(), key)
    },
    run: { disk in
      let report = try custody(disk).wipe(named: ["/keys/relay.kek"])
      guard report.isComplete, report.remaining.isEmpty else { throw KeyingError.slotCount(0) }
    },
    loss: { disk, key in
      // Everything is there, or the next start removes everything, or nothing is there.
      let after = disk.copy()
      do {
        _ = try custody(after).open(with: .credential())
        let isWhole = ["store.db", "archive.db", "plain.db", "lock"].allSatisfy {
          after.contents[state + "/" + $0] == Array("content of \($0)".utf8)
        }
        guard isWhole, (try? dataKey(after, .credential())) == key else { return "half a state without a mark" }
        return nil
      } catch KeyingError.wiped(let report) {
        guard report.isComplete, report.isResumed else { return "\(report)" }
      } catch KeyingError.notInitialised {
      } catch { return "\(error)" }
      let left = after.contents.keys.filter { $0.hasPrefix(state + "/") || $0 == "/keys/relay.kek" }
      // A lock or a draft says nothing about anybody.
      return left.allSatisfy { $0.hasSuffix("/lock") || $0.hasSuffix(".tmp") } ? nil : "left: \(left)"
    },
    isDone: { disk in !disk.contents.keys.contains { $0.hasPrefix(state + "/") || $0 == "/keys/relay.kek" } })

  static let backup = Verb(
    name: "backup", start: { try madeDisk() },
    run: { disk in
      var writer = try BackupWriter(
        path: "/backup/file", passphrase: secret("words"), wallMilliseconds: 1, surroundings: surroundings(disk))
      try writer.entry("one", [UInt8](repeating: 1, count: 70_000).rawSpan)
      try writer.entry("two", [UInt8]().rawSpan)
      try writer.finish()
    },
    loss: { disk, key in
      guard disk.contents["/backup/file"] != nil else { return opens(disk, key, [{ .credential() }]) }
      do {
        var reader = try BackupReader(
          path: "/backup/file", passphrase: secret("words"), surroundings: surroundings(disk.copy()))
        while try reader.next() != nil {}
        return nil
      } catch { return "\(error)" }
    },
    isDone: { $0.contents["/backup/file"] != nil && $0.contents["/backup/file.part"] == nil })

  static let all = [create, migrate, open, addSlot, removeSlot, changePassphrase, wipe, backup]
}

@Suite struct CutPointTests {
  private let crashes: [MemoryFileSystem.Crash] =
    [.forgetting, .keeping] + (1...12).map { .tearing(seed: $0) }

  /// `RELAYCHAT_TORN_DISKS` asks for more of them than a quick run tries.
  private let more: [MemoryFileSystem.Crash] = {
    let asked = unsafe getenv("RELAYCHAT_TORN_DISKS").flatMap { unsafe UInt64(String(cString: $0)) } ?? 20
    return (13...max(asked, 13)).map { .tearing(seed: $0) }
  }()

  /// Calls of a verb that nothing disturbs.
  private func calls(_ verb: Verb) throws -> [String] {
    let (disk, key) = try verb.start()
    try verb.run(disk)
    #expect(verb.loss(disk.crashed(.forgetting), key) == nil, "what returned is durable")
    return disk.log
  }

  @Test(arguments: Verb.all.indices) func threat17_keysThatAreCutAnywhereAreOldOrNew(index: Int) throws {
    let verb = Verb.all[index]
    let calls = try calls(verb)
    let (start, key) = try verb.start()
    var points = 0
    for cut in 0...calls.count {
      let disk = start.copy()
      disk.cut(at: cut)
      var isDone = false
      do {
        try verb.run(disk)
        isDone = true
      } catch {}
      #expect(isDone == (cut == calls.count), "\(verb.name) cut at \(cut)")
      for crash in crashes + more {
        points += 1
        let loss = verb.loss(disk.crashed(crash), key)
        #expect(
          loss == nil, "\(verb.name) cut before call \(cut) (\(cut < calls.count ? calls[cut] : "end")), \(crash)")
      }
    }
    #expect(points == (calls.count + 1) * (crashes.count + more.count))
  }

  /// A verb that dies again while what it left is being finished.
  @Test func wipeThatIsCutAgainAndAgainEnds() throws {
    let (start, key) = try Verb.wipe.start()
    let count = try calls(Verb.wipe).count
    for first in 0..<count {
      let disk = start.copy()
      disk.cut(at: first)
      try? Verb.wipe.run(disk)
      var next = disk.crashed(.tearing(seed: UInt64(first)))
      for second in stride(from: 1, to: count, by: 3) {
        next.cut(at: second)
        _ = try? custody(next).open(with: .credential())
        next = next.crashed(.tearing(seed: UInt64(second)))
        #expect(Verb.wipe.loss(next, key) == nil, "cut at \(first), then at \(second)")
      }
    }
  }

  @Test(arguments: Verb.all.indices) func faultAnywhereLosesNothing(index: Int) throws {
    let verb = Verb.all[index]
    let calls = try calls(verb)
    let (start, key) = try verb.start()
    for call in calls.indices {
      for fault in [MemoryFileSystem.Fault.failing(EIO), .failing(ENOSPC), .short] {
        let disk = start.copy()
        disk.inject(fault, at: call)
        var failure: (any Error)?
        do { try verb.run(disk) } catch { failure = error }
        if case .short = fault { #expect(failure == nil, "\(verb.name): short at \(call) (\(calls[call]))") }
        for crash in crashes.prefix(5) {
          let loss = verb.loss(disk.crashed(crash), key)
          #expect(loss == nil, "\(verb.name): \(fault) at \(call) (\(calls[call])), \(crash)")
        }
        // An error is told, but where zeros are put over what goes anyway.
        let isTidying =
          verb.name == "wipe" && !calls[call].contains("wiping")
          && ["open ", "write ", "sync "].contains { calls[call].hasPrefix($0) }
        if case .failing = fault, !isTidying {
          #expect(failure != nil, "\(verb.name): \(fault) at \(call) (\(calls[call]))")
        }
      }
    }
  }

  /// The model shows a loss when a sync is left out: otherwise the tests above would prove nothing.
  @Test(arguments: Verb.all.indices) func leftOutSyncIsALoss(index: Int) throws {
    let verb = Verb.all[index]
    let calls = try calls(verb)
    let (start, key) = try verb.start()
    var shown: [String] = []
    for sync in calls.indices where calls[sync].hasPrefix("sync") {
      var isLost = false
      for cut in sync + 1...calls.count where !isLost {
        let disk = start.copy()
        disk.ignoreSync(at: sync)
        disk.cut(at: cut)
        try? verb.run(disk)
        isLost = crashes.contains { crash in
          let after = disk.crashed(crash)
          return verb.loss(after, key) != nil || (cut == calls.count && !verb.isDone(after))
        }
      }
      if isLost { shown.append(calls[sync]) }
    }
    let draft =
      switch verb.name {
      case "wipe": "sync " + state + "/wiping.tmp"
      case "backup": "sync /backup/file.part"
      default: "sync " + state + "/keys.v1.tmp"
      }
    #expect(shown.contains(draft), "\(verb.name): of the syncs left out only \(shown) show a loss")
    // Where the backup goes last, its directory sync makes good for the one before: only both left out show.
    let disk = start.copy()
    let directories = calls.indices.filter { calls[$0].hasPrefix("syncDirectory") }
    for sync in directories.suffix(2) { disk.ignoreSync(at: sync) }
    try verb.run(disk)
    #expect(!verb.isDone(disk.crashed(.forgetting)), "\(verb.name) is done without its directory syncs")
  }
}
