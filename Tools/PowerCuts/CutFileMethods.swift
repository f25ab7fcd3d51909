internal import CSQLite
internal import Glibc

/// What SQLite does to an open file.
enum CutFileMethods {
  private static let readError = SQLITE_IOERR | (1 << 8)
  private static let shortRead = SQLITE_IOERR | (2 << 8)
  private static let writeError = SQLITE_IOERR | (3 << 8)
  private static let syncError = SQLITE_IOERR | (4 << 8)
  private static let directoryError = SQLITE_IOERR | (5 << 8)
  private static let truncateError = SQLITE_IOERR | (6 << 8)

  nonisolated(unsafe) static let pointer: UnsafePointer<sqlite3_io_methods> = {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    unsafe methods.initialize(to: sqlite3_io_methods())
    unsafe methods.pointee.iVersion = 1
    unsafe methods.pointee.xClose = { pointer in
      guard let file = unsafe take(pointer) else { return SQLITE_OK }
      unsafe file.disk?.takeUnretainedValue().count(opened: -1)
      unsafe file.disk?.release()
      unsafe file.memory?.release()
      return SQLITE_OK
    }
    unsafe methods.pointee.xRead = { pointer, buffer, count, offset in
      guard let file = unsafe take(pointer), let buffer = unsafe buffer else { return readError }
      let wanted = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: Int(count))
      let found: Int?
      if let disk = unsafe file.disk {
        found = unsafe disk.takeUnretainedValue().read(file.file, offset: Int(offset), into: wanted)
      } else {
        let bytes = unsafe file.memory?.takeUnretainedValue().disk.read(0, offset: Int(offset), count: Int(count)) ?? []
        unsafe wanted.copyBytes(from: bytes)
        found = bytes.count
      }
      guard let found else { return readError }
      guard found < Int(count) else { return SQLITE_OK }
      unsafe memset(buffer + found, 0, Int(count) - found)
      return shortRead
    }
    unsafe methods.pointee.xWrite = { pointer, buffer, count, offset in
      guard let file = unsafe take(pointer), let buffer = unsafe buffer else { return writeError }
      let bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: buffer, count: Int(count)))
      if let memory = unsafe file.memory {
        unsafe memory.takeUnretainedValue().disk.apply(.write(file: 0, offset: Int(offset), bytes: bytes))
        return SQLITE_OK
      }
      switch unsafe file.disk?.takeUnretainedValue().write(file.file, offset: Int(offset), bytes) {
      case nil: return SQLITE_OK
      case ENOSPC: return SQLITE_FULL
      default: return writeError
      }
    }
    unsafe methods.pointee.xTruncate = { pointer, size in
      guard let file = unsafe take(pointer) else { return truncateError }
      if let memory = unsafe file.memory {
        unsafe memory.takeUnretainedValue().disk.apply(.truncate(file: 0, size: Int(size)))
        return SQLITE_OK
      }
      return unsafe file.disk?.takeUnretainedValue().truncate(file.file, size: Int(size)) == nil
        ? SQLITE_OK : truncateError
    }
    unsafe methods.pointee.xSync = { pointer, _ in
      guard let file = unsafe take(pointer) else { return syncError }
      guard let disk = unsafe file.disk?.takeUnretainedValue() else { return SQLITE_OK }
      if disk.sync(file.file) != nil { return syncError }
      guard file.isNew else { return SQLITE_OK }
      if disk.syncDirectory(of: "directory of a log") != nil { return directoryError }
      unsafe pointer?.withMemoryRebound(to: CutFile.self, capacity: 1) { unsafe $0.pointee.isNew = false }
      return SQLITE_OK
    }
    unsafe methods.pointee.xFileSize = { pointer, answer in
      guard let file = unsafe take(pointer), let answer = unsafe answer else { return readError }
      if let disk = unsafe file.disk {
        unsafe answer.pointee = Int64(disk.takeUnretainedValue().size(file.file))
      } else {
        unsafe answer.pointee = Int64(file.memory?.takeUnretainedValue().disk.size(0) ?? 0)
      }
      return SQLITE_OK
    }
    unsafe methods.pointee.xLock = { _, _ in SQLITE_OK }
    unsafe methods.pointee.xUnlock = { _, _ in SQLITE_OK }
    unsafe methods.pointee.xCheckReservedLock = { _, answer in
      if let answer = unsafe answer { unsafe answer.pointee = 0 }
      return SQLITE_OK
    }
    unsafe methods.pointee.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
    unsafe methods.pointee.xSectorSize = { _ in 4_096 }
    unsafe methods.pointee.xDeviceCharacteristics = { _ in SQLITE_IOCAP_POWERSAFE_OVERWRITE }
    return unsafe UnsafePointer(methods)
  }()

  private static func take(_ pointer: UnsafeMutablePointer<sqlite3_file>?) -> CutFile? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe pointer.withMemoryRebound(to: CutFile.self, capacity: 1) { unsafe $0.pointee }
  }
}
