package import Database
internal import Glibc
internal import Streams

/// A disk in memory on which SQLite and the stores work as on a real one, which records everything that changes it, can
/// die at any operation, fail at any call, and leave a sync out.
///
/// Its databases have a VFS of their own; the disk is found by the first part of their path, so `directory` is theirs
/// alone. Unlinked files stay for those that have them open. Temporary files without a name are not recorded.
package final class CutDisk: DatabaseDisk {
  /// What of one call goes wrong.
  package enum Fault: CaseIterable, Sendable {
    /// It fails with EIO.
    case inputOutput
    /// A write fails with ENOSPC, and every later one that would need room, until `heal`.
    case full
    /// A write does half of what it should and fails.
    case short
  }

  private struct State: Sendable {
    var disk: DiskState
    var nextFile: Int
    var log: [DiskOperation] = []
    var calls = 0
    var cut: Int?
    var fault: (call: Int, fault: Fault)?
    var isFull = false
    var faults = 0
    var openFiles = 0
    /// Numbers of the calls that need room.
    var writeCalls: Set<Int> = []
    var withoutSync: (@Sendable (_ path: String) -> Bool)?
    /// Paths under which files were made: a sync is left out by name.
    var paths: [Int: String] = [:]
  }

  package let directory: String
  private let number: Int
  private let state: Protected<State>

  /// - Parameter withoutSync: whether a sync of this path is left out: a file, `directory`, or
  ///   `directory of a log`, which is SQLite's own, although it says it is done.
  package init(_ disk: DiskState = DiskState(), withoutSync: (@Sendable (_ path: String) -> Bool)? = nil) {
    CutDiskVFS.register()
    var paths: [Int: String] = [:]
    for path in disk.paths { if let file = disk.file(path) { paths[file] = path } }
    state = Protected(
      State(disk: disk, nextFile: (paths.keys.max() ?? 0) + 1, withoutSync: withoutSync, paths: paths))
    number = CutDiskShelf.nextNumber()
    directory = "/disk\(number)"
    CutDiskShelf.put(self, number)
  }

  deinit { CutDiskShelf.remove(number) }

  // MARK: - What a run asks and arranges

  package var operations: [DiskOperation] { state.withLock { $0.log } }
  package var operationCount: Int { state.withLock { $0.log.count } }
  /// Calls so far, reads included: the number of a fault.
  package var callCount: Int { state.withLock { $0.calls } }
  /// Those of them that need room, which alone `full` and `short` fail.
  package var writeCalls: Set<Int> { state.withLock { $0.writeCalls } }
  /// Calls that were failed.
  package var faultCount: Int { state.withLock { $0.faults } }
  package var snapshot: DiskState { state.withLock { $0.disk } }

  /// From operation `index` on everything fails: the machine is off.
  package func cut(at index: Int) { state.withLock { $0.cut = index } }
  package func inject(_ fault: Fault, atCall call: Int) { state.withLock { $0.fault = (call, fault) } }
  package func heal() {
    state.withLock {
      $0.fault = nil
      $0.isFull = false
    }
  }

  /// The machine is off from now on. What it leaves is `snapshot.afterCut`.
  package func cut() { state.withLock { $0.cut = $0.log.count } }
  /// Files that SQLite has open: none once a store is closed, which its last reference does.
  package var openFileCount: Int { state.withLock { $0.openFiles } }

  // MARK: - DatabaseDisk

  package var vfs: String? { CutDiskVFS.name }

  package func exists(_ path: String) -> Bool { state.withLock { $0.disk.file(local(path)) != nil } }

  package func prepareFile(_ path: String) throws(DatabaseError) {
    if let code = open(path, mayMake: true).failure { throw .file(path: path, code: code) }
  }

  package func unlink(_ path: String) -> Int32? {
    let path = local(path)
    return state.withLock { state in
      guard state.disk.file(path) != nil else { return ENOENT }
      return Self.change(&state, .unlink(path: path))
    }
  }

  package func syncDirectory(_ path: String) -> Int32? { syncDirectory(of: "directory") }

  /// - Parameter path: what it is done for: `directory` itself, or the log that was just made.
  func syncDirectory(of path: String) -> Int32? {
    state.withLock { state in
      if state.withoutSync?(path) == true { return nil }
      return Self.change(&state, .syncDirectory)
    }
  }

  // MARK: - Files

  enum Opened {
    case file(Int, isNew: Bool)
    case failed(Int32)

    var failure: Int32? { if case .failed(let code) = self { code } else { nil } }
  }

  func open(_ path: String, mayMake: Bool) -> Opened {
    let path = local(path)
    return state.withLock { state in
      if let code = Self.fail(&state, isWrite: false).map(Self.code) { return .failed(code) }
      if let file = state.disk.file(path) { return .file(file, isNew: false) }
      guard mayMake else { return .failed(ENOENT) }
      let file = state.nextFile
      state.nextFile += 1
      state.paths[file] = path
      if let code = Self.change(&state, .create(path: path, file: file)) { return .failed(code) }
      return .file(file, isNew: true)
    }
  }

  func count(opened: Int) { state.withLock { $0.openFiles += opened } }
  func size(_ file: Int) -> Int { state.withLock { $0.disk.size(file) } }

  /// Copies what is there into the buffer.
  ///
  /// - Returns: how many bytes that were, or nothing when the disk failed.
  func read(_ file: Int, offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let bytes: ArraySlice<UInt8>? = state.withLock { state in
      if Self.fail(&state, isWrite: false) != nil { return nil }
      return state.disk.read(file, offset: offset, count: buffer.count)
    }
    guard let bytes else { return nil }
    unsafe buffer.copyBytes(from: bytes)
    return bytes.count
  }

  func write(_ file: Int, offset: Int, _ bytes: [UInt8]) -> Int32? {
    state.withLock { Self.change(&$0, .write(file: file, offset: offset, bytes: bytes)) }
  }

  func truncate(_ file: Int, size: Int) -> Int32? {
    state.withLock { Self.change(&$0, .truncate(file: file, size: size)) }
  }

  func sync(_ file: Int) -> Int32? {
    state.withLock { state in
      if let path = state.paths[file], state.withoutSync?(path) == true { return nil }
      return Self.change(&state, .sync(file: file))
    }
  }

  // MARK: - Internals

  /// What a path is called on every disk, so that a disk can be taken over by another one.
  private func local(_ path: String) -> String {
    String(path.hasPrefix(directory) ? path.dropFirst(directory.count) : path[...])
  }

  private static func code(_ fault: Fault) -> Int32 { fault == .inputOutput ? EIO : ENOSPC }

  private static func fail(_ state: inout State, isWrite: Bool) -> Fault? {
    if let cut = state.cut, state.log.count >= cut { return .inputOutput }
    let call = state.calls
    state.calls += 1
    if isWrite { state.writeCalls.insert(call) }
    if isWrite, state.isFull { return .full }
    guard let (at, fault) = state.fault, at == call, isWrite || fault == .inputOutput else { return nil }
    state.faults += 1
    if fault == .full { state.isFull = true }
    return fault
  }

  private static func change(_ state: inout State, _ operation: DiskOperation) -> Int32? {
    let needsRoom =
      switch operation {
      case .write, .create: true
      default: false
      }
    if let fault = fail(&state, isWrite: needsRoom) {
      if case .write(let file, let offset, let bytes) = operation, fault == .short {
        let half = DiskOperation.write(file: file, offset: offset, bytes: Array(bytes.prefix(bytes.count / 2)))
        state.log.append(half)
        state.disk.apply(half)
      }
      if case .sync(let file) = operation, state.cut == nil { state.disk.forgetPending(file) }
      return code(fault)
    }
    state.log.append(operation)
    state.disk.apply(operation)
    return nil
  }
}

/// The disks there are, by their number.
enum CutDiskShelf {
  private struct Entry: Sendable {
    weak var disk: CutDisk?
  }

  private static let shelf = Protected<(next: Int, disks: [Int: Entry])>((1, [:]))

  static func nextNumber() -> Int {
    shelf.withLock { shelf in
      defer { shelf.next += 1 }
      return shelf.next
    }
  }

  static func put(_ disk: CutDisk, _ number: Int) { shelf.withLock { $0.disks[number] = Entry(disk: disk) } }
  static func remove(_ number: Int) { shelf.withLock { $0.disks[number] = nil } }

  /// The one that a path lies on.
  static func disk(of path: String) -> CutDisk? {
    guard path.hasPrefix("/disk"), let number = Int(path.dropFirst(5).prefix { $0 != "/" }) else { return nil }
    return shelf.withLock { $0.disks[number]?.disk }
  }
}
