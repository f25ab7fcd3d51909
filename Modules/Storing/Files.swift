internal import Database
import Glibc

/// The few things that are done to files as a whole.
enum Files {
  /// Removes a database that nobody has open, the file first: its log without it is nothing. Durable on return.
  ///
  /// - Returns: a code of errno when something is still there or the directory could not be synced.
  static func removeDatabase(_ path: String, on disk: any DatabaseDisk) -> Int32? {
    for name in [path, path + "-wal", path + "-shm"] {
      if let code = disk.unlink(name), code != ENOENT { return code }
    }
    return disk.syncDirectory(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
  }
}
