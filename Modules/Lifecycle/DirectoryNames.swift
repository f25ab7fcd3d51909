import Glibc

/// The names in a directory, which are durable by themselves: a file that was synced may still be nameless after a loss of
/// power.
package enum DirectoryNames {
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
