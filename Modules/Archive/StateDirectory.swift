package import Database
internal import Glibc

/// Why a state directory cannot be used.
package enum StateDirectoryError: Error, Equatable {
  case directory(PrivateDirectoryError)
  /// Another process holds the lock; its number, when it can be read.
  case inUse(path: String, process: Int32?)
  case lockFailed(path: String, code: Int32)
}

/// The directory that holds everything a node must not forget, and the lock that keeps a second node out.
///
/// Mode 0700, every file in it 0600. The lock is `flock` on the file `lock`, so it goes with the process however that
/// ends. Layout: `keys.v1` what opens the rest, `store.db` keys and settings, `plain.db` the same where it is not sealed yet,
/// `archive.db` messages and contacts, `lock`.
package final class StateDirectory: Sendable {
  package let path: String
  private let descriptor: Int32

  /// Makes or checks the directory and takes the lock.
  package init(path: String) throws(StateDirectoryError) {
    do { try PrivateDirectory.prepare(path) } catch { throw .directory(error) }
    let lock = path + "/lock"
    let descriptor = unsafe open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lockFailed(path: lock, code: errno) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      let owner = Self.owner(descriptor)
      close(descriptor)
      throw code == EWOULDBLOCK ? .inUse(path: path, process: owner) : .lockFailed(path: lock, code: code)
    }
    self.path = path
    self.descriptor = descriptor
    let number = Array("\(getpid())\n".utf8)
    _ = ftruncate(descriptor, 0)
    _ = unsafe pwrite(descriptor, number, number.count, 0)
  }

  deinit { close(descriptor) }

  package var plainPath: String { path + "/plain.db" }
  package var storePath: String { path + "/store.db" }
  package var archivePath: String { path + "/archive.db" }

  private static func owner(_ descriptor: Int32) -> Int32? {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
    guard count > 0, let text = String(validating: bytes[..<count], as: UTF8.self) else { return nil }
    return text.split(separator: "\n").first.flatMap { Int32($0) }
  }
}
