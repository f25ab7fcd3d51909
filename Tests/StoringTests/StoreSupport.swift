import Bytes
import Database
import Glibc
import Primitives
import Streams

@testable import Storing

/// A directory of its own for one test, gone afterwards. In memory where the machine has such a place, because these
/// tests are about order and not about the disk.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    let number = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    path = (unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/relaychat-storing-\(number)"
    unsafe mkdir(path, 0o700)
  }

  deinit {
    for name in ["store.db", "plain.db"] { for end in ["", "-wal", "-shm"] { unsafe unlink("\(path)/\(name)\(end)") } }
    unsafe rmdir(path)
  }

  var store: String { path + "/store.db" }
  var plain: String { path + "/plain.db" }

  func exists(_ name: String) -> Bool { unsafe access("\(path)/\(name)", F_OK) == 0 }

  func bytes(_ name: String) -> [UInt8]? {
    let file = unsafe open("\(path)/\(name)", O_RDONLY)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var facts = stat()
    guard unsafe fstat(file, &facts) == 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
    let count = bytes.count
    return unsafe read(file, &bytes, count) == count ? bytes : nil
  }

  func write(_ bytes: [UInt8]?, to name: String) {
    let path = "\(path)/\(name)"
    unsafe unlink(path)
    guard let bytes else { return }
    let file = unsafe open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
    defer { close(file) }
    _ = unsafe Glibc.write(file, bytes, bytes.count)
  }

  /// What a process leaves that dies now: the files and their logs, in another directory.
  func crashed() -> TemporaryDirectory {
    let other = TemporaryDirectory()
    for name in ["store.db", "store.db-wal", "plain.db", "plain.db-wal"] { other.write(bytes(name), to: name) }
    return other
  }

  /// The whole contents, for "left as it was".
  var contents: [[UInt8]?] { ["store.db", "plain.db"].map { bytes($0) } }
}

let storeID: [UInt8] = Array(1...16)
let otherID: [UInt8] = Array(2...17)

func dataKey(_ byte: UInt8 = 7) -> Secret { Secret(copying: [UInt8](repeating: byte, count: 32).rawSpan) }

func openSealed(
  _ directory: TemporaryDirectory, id: [UInt8] = storeID, key: UInt8 = 7, mayBegin: Bool = true
) throws(SealedStoreError) -> SealedFile {
  try SealedFile(path: directory.store, storeID: id, key: dataKey(key), random: .system, mayBegin: mayBegin)
}

/// Milliseconds since 1970, set by hand.
final class Wall: Sendable {
  private let time = Protected<UInt64>(1_700_000_000_000)
  var now: UInt64 { time.withLock { $0 } }
  func pass(days: UInt64) { time.withLock { $0 += days * 86_400_000 } }
  func set(_ now: UInt64) { time.withLock { $0 = now } }
}

/// What of the sealed path fails; a late one fails after it was done.
enum Fault: CaseIterable, Sendable {
  case keyFetch, openStore, open, seal, write, lateWrite, note, lateNote, clear, reopen
}

final class Faults: Sendable {
  private let active = Protected<Set<Fault>>([])
  var now: Set<Fault> {
    get { active.withLock { $0 } }
    set { active.withLock { $0 = newValue } }
  }

  private let watcher = Protected<(@Sendable () -> Void)?>(nil)
  /// Called before and after everything that the sealed path does.
  var watch: (@Sendable () -> Void)? {
    get { watcher.withLock { $0 } }
    set { watcher.withLock { $0 = newValue } }
  }

  private let later = Protected<Set<Fault>>([])
  /// What fails besides once a note is set.
  var whenNoteIsSet: Set<Fault> {
    get { later.withLock { $0 } }
    set { later.withLock { $0 = newValue } }
  }

  func check(_ fault: Fault, _ error: SealedStoreError) throws(SealedStoreError) {
    if now.contains(fault) { throw error }
  }
}

struct FaultyProvider: SealedProvider {
  let directory: String
  let faults: Faults
  let key: UInt8

  init(_ directory: TemporaryDirectory, _ faults: Faults, key: UInt8 = 7) {
    self.directory = directory.path
    self.faults = faults
    self.key = key
  }

  var exists: Bool { unsafe access(directory + "/store.db", F_OK) == 0 }

  func open(mayBegin: Bool) throws(SealedStoreError) -> any SealedBackend {
    try faults.check(.keyFetch, .noKey(reason: "test"))
    try faults.check(.openStore, .header(path: "test"))
    let file = try SealedFile(
      path: directory + "/store.db", storeID: storeID, key: dataKey(key), random: .system, mayBegin: mayBegin)
    return FaultyBackend(file, faults)
  }
}

final class FaultyBackend: SealedBackend {
  let file: SealedFile
  let faults: Faults

  init(_ file: SealedFile, _ faults: Faults) {
    self.file = file
    self.faults = faults
  }

  func read(_ name: String) throws(SealedStoreError) -> SealedReading {
    faults.watch?()
    defer { faults.watch?() }
    try faults.check(.open, .value(name: name))
    return try file.read(name)
  }

  func write(_ values: [(name: String, value: [UInt8])], isErasing: Bool) throws(SealedStoreError) {
    faults.watch?()
    defer { faults.watch?() }
    try faults.check(.seal, .primitive(.noRandomness))
    try faults.check(.write, .database(.full(path: "test")))
    try file.write(values, isErasing: isErasing)
    try faults.check(.lateWrite, .database(.statement(code: 10, message: "", sql: "test")))
  }

  func remove(_ names: [String]) throws(SealedStoreError) {
    faults.watch?()
    defer { faults.watch?() }
    try faults.check(.seal, .primitive(.noRandomness))
    try faults.check(.write, .database(.full(path: "test")))
    try file.remove(names)
    try faults.check(.lateWrite, .database(.statement(code: 10, message: "", sql: "test")))
  }

  func names() throws(SealedStoreError) -> [String] { try file.names() }

  func clear() throws(SealedStoreError) {
    faults.watch?()
    defer { faults.watch?() }
    try faults.check(.clear, .database(.full(path: "test")))
    try file.clear()
  }

  func note() throws(SealedStoreError) -> [UInt8] { try file.note() }

  func setNote(_ note: [UInt8]) throws(SealedStoreError) {
    faults.watch?()
    defer { faults.watch?() }
    try faults.check(.note, .database(.full(path: "test")))
    try file.setNote(note)
    faults.now.formUnion(faults.whenNoteIsSet)
    faults.whenNoteIsSet = []
    try faults.check(.lateNote, .database(.statement(code: 10, message: "", sql: "test")))
  }

  func countOpening() throws(SealedStoreError) {
    faults.watch?()
    defer { faults.watch?() }
    try faults.check(.note, .database(.full(path: "test")))
    try file.countOpening()
  }

  func checkpoint() throws(SealedStoreError) { try file.checkpoint() }

  func reopen() throws(SealedStoreError) {
    faults.watch?()
    defer { faults.watch?() }
    try faults.check(.reopen, .summary(path: "test"))
    try file.reopen()
  }

  var generation: UInt64 { file.generation }
  var opened: UInt64 { file.opened }
  var isAlone: Bool {
    get { file.isAlone }
    set { file.isAlone = newValue }
  }
}

/// An engine over a directory, with what a test turns.
func makeEngine(
  _ directory: TemporaryDirectory, _ wall: Wall, _ faults: Faults = Faults(),
  settings: Migration.Settings = Migration.Settings(), mayBegin: Bool = true, beginsSealed: Bool = false, key: UInt8 = 7
) throws(StoreError) -> MigrationEngine {
  try MigrationEngine(
    plainPath: directory.plain, provider: FaultyProvider(directory, faults, key: key), settings: settings,
    mayBegin: mayBegin, beginsSealed: beginsSealed, wall: { wall.now })
}

extension MigrationEngine {
  /// One step further than now, whatever it takes.
  func reach(_ phase: Migration.Phase) throws(StoreError) {
    while migration.phase < phase {
      switch migration.phase {
      case .plain, .copyAll, .sealed: _ = try advanceOnce()
      case .doubleWrite: try enter(.verify)
      case .verify: try enter(.copyAll)
      }
    }
  }

  private func enter(_ phase: Migration.Phase) throws(StoreError) {
    migration.enter(phase, now: wall())
    do { try plain?.save(record: migration.encoded) } catch { throw .database(error) }
  }

  private func advanceOnce() throws(StoreError) -> [Migration.Missing] {
    // Out of `plain` a patient call takes one step only; out of `copyAll` there is but one.
    try advance(isImpatient: migration.phase == .copyAll) { _ in }
  }
}

extension SealedFile {
  func put(_ name: String, _ value: [UInt8]) throws(SealedStoreError) { try write([(name, value)], isErasing: false) }
}

extension MigrationEngine {
  func put(_ name: String, _ value: [UInt8]) throws(StoreError) { try put([(name, value)], isErasing: false) }
}

/// Counts down.
final class Counter: Sendable {
  private let left: Protected<Int>
  init(_ count: Int) { left = Protected(count) }
  func take() -> Bool {
    left.withLock { left in
      left -= 1
      return left >= 0
    }
  }
}
