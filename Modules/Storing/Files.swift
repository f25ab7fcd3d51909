import Glibc

/// The few things that are done to files as a whole.
enum Files {
  static func exists(_ path: String) -> Bool {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0
  }

  /// Removes a database that nobody has open, the file first: its log without it is nothing. Durable on return.
  ///
  /// - Returns: a code of errno when something is still there or the directory could not be synced.
  static func removeDatabase(_ path: String) -> Int32? {
    for name in [path, path + "-wal", path + "-shm"] {
      guard unsafe unlink(name) != 0 else { continue }
      if errno != ENOENT { return errno }
    }
    let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let descriptor = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? nil : errno
  }
}
