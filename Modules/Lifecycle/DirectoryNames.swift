import Glibc

/// The names in a directory: read, and made durable, which they are by themselves: a file that was synced may still be nameless after a loss of
/// power.
package enum DirectoryNames {
  /// Hands over each name but `.` and `..`, in the order of the directory, until it is enough.
  ///
  /// - Parameter body: returns whether more are wanted.
  /// - Returns: a code of errno when the directory could not be read, or not to its end.
  package static func forEach(in path: String, _ body: (String) -> Bool) -> Int32? {
    guard let directory = unsafe opendir(path) else { return errno }
    defer { unsafe closedir(directory) }
    errno = 0
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
        unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      if name != ".", name != "..", !body(name) { return nil }
      errno = 0
    }
    return errno == 0 ? nil : errno
  }

  /// All of them; none where it cannot be read.
  package static func all(in path: String) -> [String] {
    var names: [String] = []
    _ = forEach(in: path) { name in
      names.append(name)
      return true
    }
    return names
  }

  /// Makes durable which names the directory has now: those that were given, replaced and taken.
  ///
  /// - Returns: a code of errno when they may not be.
  package static func sync(_ path: String) -> Int32? {
    let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    return fsync(descriptor) == 0 ? nil : errno
  }
}
