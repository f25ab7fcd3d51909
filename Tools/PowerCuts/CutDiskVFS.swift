internal import CSQLite
internal import Glibc
internal import Streams
internal import TestKit

/// SQLite's way to a `CutDisk`, told of it once per process.
///
/// It does what that of a Linux machine does: sector writes do not harm their neighbours (POWERSAFE_OVERWRITE), and the
/// first sync of a journal or log that was just made syncs the directory too. No locks and no shared memory: one
/// connection to a file.
enum CutDiskVFS {
  static let name = "cut-disk"

  static func register() { _ = registered }

  private static let registered: Bool = {
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    unsafe vfs.initialize(to: sqlite3_vfs())
    unsafe vfs.pointee.iVersion = 1
    unsafe vfs.pointee.szOsFile = Int32(MemoryLayout<CutFile>.size)
    unsafe vfs.pointee.mxPathname = 512
    unsafe vfs.pointee.zName = UnsafePointer(strdup(name))
    unsafe vfs.pointee.xOpen = { _, name, file, flags, answer in
      guard let file = unsafe file else { return SQLITE_CANTOPEN }
      if let answer = unsafe answer { unsafe answer.pointee = flags }
      return unsafe CutFile.open(name.map { unsafe String(cString: $0) }, flags, file)
    }
    unsafe vfs.pointee.xDelete = { _, name, isSynced in
      guard let path = unsafe name.map({ unsafe String(cString: $0) }), let disk = CutDiskShelf.disk(of: path) else {
        return SQLITE_IOERR
      }
      if let code = disk.unlink(path) {
        return code == ENOENT ? SQLITE_IOERR | (23 << 8) : SQLITE_IOERR | (10 << 8)
      }
      guard isSynced != 0 else { return SQLITE_OK }
      return disk.syncDirectory(of: "directory of a log") == nil ? SQLITE_OK : SQLITE_IOERR | (5 << 8)
    }
    unsafe vfs.pointee.xAccess = { _, name, _, answer in
      let path = unsafe name.map { unsafe String(cString: $0) } ?? ""
      let isThere = CutDiskShelf.disk(of: path).map { $0.exists(path) } ?? false
      if let answer = unsafe answer { unsafe answer.pointee = isThere ? 1 : 0 }
      return SQLITE_OK
    }
    unsafe vfs.pointee.xFullPathname = { _, name, count, answer in
      guard let name = unsafe name, let answer = unsafe answer, unsafe strlen(name) < Int(count) else {
        return SQLITE_CANTOPEN
      }
      unsafe strcpy(answer, name)
      return SQLITE_OK
    }
    unsafe vfs.pointee.xRandomness = { _, count, answer in
      // Salts of the log: they have to differ, and not to be secret.
      guard let answer = unsafe answer else { return 0 }
      for index in 0..<Int(count) { unsafe answer[index] = CChar(truncatingIfNeeded: salt.withLock { $0.next() }) }
      return count
    }
    unsafe vfs.pointee.xSleep = { _, microseconds in microseconds }
    unsafe vfs.pointee.xCurrentTime = { _, answer in
      if let answer = unsafe answer { unsafe answer.pointee = 2_460_000.5 }
      return SQLITE_OK
    }
    unsafe vfs.pointee.xGetLastError = { _, _, _ in 0 }
    return unsafe sqlite3_vfs_register(vfs, 0) == SQLITE_OK
  }()

  private static let salt = Protected(SeededGenerator(seed: 1))
}

/// What SQLite keeps for an open file: its methods, and behind them what is ours.
@safe struct CutFile {
  var base = unsafe sqlite3_file()
  /// One retained reference, or nothing for a file without a name.
  var disk: Unmanaged<CutDisk>?
  var memory: Unmanaged<TemporaryFile>?
  var file = 0
  /// Its name may not be durable yet.
  var isNew = false

  static func open(_ path: String?, _ flags: Int32, _ pointer: UnsafeMutablePointer<sqlite3_file>) -> Int32 {
    var one = CutFile()
    let place = UnsafeMutableRawPointer(pointer)
    unsafe place.initializeMemory(as: CutFile.self, to: CutFile())
    if let path, let disk = CutDiskShelf.disk(of: path) {
      switch disk.open(path, mayMake: flags & SQLITE_OPEN_CREATE != 0) {
      case .failed: return SQLITE_CANTOPEN
      case .file(let file, let isNew):
        one.file = file
        let isLog = flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL) != 0
        one.isNew = isNew && isLog
      }
      disk.count(opened: 1)
      unsafe one.disk = Unmanaged.passRetained(disk)
    } else {
      guard path == nil else { return SQLITE_CANTOPEN }
      unsafe one.memory = Unmanaged.passRetained(TemporaryFile())
    }
    unsafe one.base.pMethods = CutFileMethods.pointer
    unsafe place.initializeMemory(as: CutFile.self, to: one)
    return SQLITE_OK
  }
}

final class TemporaryFile {
  var disk = DiskState()
  init() { disk.apply(.create(path: "", file: 0)) }
}
