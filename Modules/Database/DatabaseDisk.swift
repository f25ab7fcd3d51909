import Glibc
internal import Lifecycle
internal import Verifying

/// What databases lie on: SQLite's own way to it, and the few things that are done to files as a whole.
///
/// A program has one, `SystemDisk`. Another one stands in for it where it is tried out what a loss of power leaves.
package protocol DatabaseDisk: Sendable {
  /// Name of the SQLite VFS; nothing for that of the system. One by name has no shared memory: its databases are
  /// opened for one connection alone.
  var vfs: String? { get }

  func exists(_ path: String) -> Bool

  /// Makes an empty file of mode 0600 in a directory of mode 0700 where they are missing, or checks those that are there.
  func prepareFile(_ path: String) throws(DatabaseError)

  /// - Returns: a code of errno when it was not removed; ENOENT when there is nothing.
  func unlink(_ path: String) -> Int32?

  /// Makes durable which names are in the directory.
  ///
  /// - Returns: a code of errno when it may not be.
  func syncDirectory(_ path: String) -> Int32?
}

/// The files of the machine.
package struct SystemDisk: DatabaseDisk {
  package init() {}

  package var vfs: String? { nil }

  package func exists(_ path: String) -> Bool {
    var facts = stat()
    return unsafe lstat(path, &facts) == 0
  }

  /// SQLite would make the file with the mode of the umask; its log files take over the mode of this one.
  package func prepareFile(_ path: String) throws(DatabaseError) {
    let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    do { try PrivateDirectory.prepare(directory) } catch { throw .directory(error) }
    let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .file(path: path, code: errno) }
    defer { close(descriptor) }
    var facts = stat()
    guard unsafe fstat(descriptor, &facts) == 0 else { throw .file(path: path, code: errno) }
    guard facts.st_uid == geteuid() || DatabaseOwner.isSkipped else { throw .notOurs(path: path, owner: facts.st_uid) }
    if facts.st_mode & 0o777 != 0o600, fchmod(descriptor, 0o600) != 0 { throw .file(path: path, code: errno) }
  }

  package func unlink(_ path: String) -> Int32? { unsafe Glibc.unlink(path) == 0 ? nil : errno }

  package func syncDirectory(_ path: String) -> Int32? { DirectoryNames.sync(path) }
}

/// A database file is ours.
enum DatabaseOwner: Verification {
  static let name = "database-owner"
}
