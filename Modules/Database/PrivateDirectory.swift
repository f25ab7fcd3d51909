import Glibc
internal import Verifying

/// Why a directory cannot hold private data.
package enum PrivateDirectoryError: Error, Equatable {
  case cannotBeMade(path: String, code: Int32)
  case notADirectory(path: String)
  /// It belongs to another user.
  case notOurs(path: String, owner: UInt32)
  /// Others may enter it: `mode` has bits beyond 0700.
  case openToOthers(path: String, mode: UInt32)
}

/// A directory that only its owner can enter.
package enum PrivateDirectory {
  /// Makes the directory with mode 0700, and what is missing above it, or checks the one that is there: it must belong
  /// to the effective user and give no rights to anybody else. An existing directory is never changed.
  package static func prepare(_ path: String) throws(PrivateDirectoryError) {
    try makeMissing(path)
    var facts = stat()
    guard unsafe stat(path, &facts) == 0 else { throw .cannotBeMade(path: path, code: errno) }
    guard facts.st_mode & S_IFMT == S_IFDIR else { throw .notADirectory(path: path) }
    guard facts.st_uid == geteuid() || DirectoryOwner.isSkipped else { throw .notOurs(path: path, owner: facts.st_uid) }
    guard facts.st_mode & 0o077 == 0 || DirectoryMode.isSkipped else {
      throw .openToOthers(path: path, mode: facts.st_mode & 0o7777)
    }
  }

  private static func makeMissing(_ path: String) throws(PrivateDirectoryError) {
    var made = path.hasPrefix("/") ? "" : "."
    for part in path.split(separator: "/") {
      made += "/" + part
      guard unsafe mkdir(made, 0o700) != 0 else { continue }
      let code = errno
      var facts = stat()
      let isThere = unsafe stat(made, &facts) == 0
      guard isThere else { throw .cannotBeMade(path: made, code: code) }
      guard facts.st_mode & S_IFMT == S_IFDIR else { throw .notADirectory(path: made) }
    }
  }
}

/// A private directory is ours.
enum DirectoryOwner: Verification {
  static let name = "directory-owner"
}

/// A private directory is closed to others.
enum DirectoryMode: Verification {
  static let name = "directory-mode"
}
