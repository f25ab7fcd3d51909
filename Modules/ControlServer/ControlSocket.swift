import Glibc
package import Lifecycle

/// Why the control socket cannot be made.
package enum ControlSocketError: Error, Equatable {
  case path(UnixSocketAddress.Failure)
  /// Another process answers on it.
  case inUse(path: String)
  /// Something is there that is no socket; it is left alone.
  case notASocket(path: String)
  case unknownGroup(String)
  case systemCall(String, path: String, code: Int32)
}

/// A listening Unix socket at a path, with the rights that its file has.
struct ControlSocket {
  let descriptor: Int32
  let path: String
  /// The group whose members may connect.
  let group: UInt32?
  private let inode: UInt64

  /// The file has mode 0600, or 0660 with `group`. A socket that nobody answers on is replaced.
  static func listen(path: String, group name: String?) throws(ControlSocketError) -> ControlSocket {
    let address: UnixSocketAddress
    do { address = try UnixSocketAddress(path: path) } catch { throw .path(error) }
    let group = try name.map { (name) throws(ControlSocketError) in try number(ofGroup: name) }
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_UNIX, type, 0)
    guard descriptor >= 0 else { throw .systemCall("socket", path: path, code: errno) }
    do throws(ControlSocketError) {
      try bind(descriptor, to: address)
      // Nobody can connect before `listen`, so the mode of the umask is never effective.
      if let group, unsafe chown(path, uid_t.max, group) != 0 {
        throw .systemCall("chown", path: path, code: errno)
      }
      guard unsafe chmod(path, group == nil ? 0o600 : 0o660) == 0 else {
        throw .systemCall("chmod", path: path, code: errno)
      }
      var facts = stat()
      guard unsafe lstat(path, &facts) == 0, Glibc.listen(descriptor, ControlServerLimits.backlog) == 0 else {
        throw .systemCall("listen", path: path, code: errno)
      }
      return ControlSocket(descriptor: descriptor, path: path, group: group, inode: UInt64(facts.st_ino))
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// Closes the socket and removes its file, unless that is another one by now.
  func remove() {
    var facts = stat()
    if unsafe lstat(path, &facts) == 0, UInt64(facts.st_ino) == inode { unsafe unlink(path) }
    close(descriptor)
  }

  private static func bind(_ descriptor: Int32, to address: UnixSocketAddress) throws(ControlSocketError) {
    for isRetry in [false, true] {
      if unsafe address.withPointer({ unsafe Glibc.bind(descriptor, $0, $1) }) == 0 { return }
      let code = errno
      guard code == EADDRINUSE, !isRetry else { throw .systemCall("bind", path: address.path, code: code) }
      try removeStale(address)
    }
  }

  private static func removeStale(_ address: UnixSocketAddress) throws(ControlSocketError) {
    var facts = stat()
    guard unsafe lstat(address.path, &facts) == 0 else { return }
    guard facts.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: address.path) }
    let probe = socket(
      AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
    guard probe >= 0 else { throw .systemCall("socket", path: address.path, code: errno) }
    defer { close(probe) }
    // A full backlog is an answer too: somebody listens.
    guard unsafe address.withPointer({ unsafe connect(probe, $0, $1) }) != 0, errno != EAGAIN else {
      throw .inUse(path: address.path)
    }
    guard errno == ECONNREFUSED || errno == ENOENT else {
      throw .systemCall("connect", path: address.path, code: errno)
    }
    guard unsafe unlink(address.path) == 0 || errno == ENOENT else {
      throw .systemCall("unlink", path: address.path, code: errno)
    }
  }

  private static func number(ofGroup name: String) throws(ControlSocketError) -> UInt32 {
    var entry = unsafe Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var buffer = [CChar](repeating: 0, count: 65_536)
    guard unsafe getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, let found = unsafe found else {
      throw .unknownGroup(name)
    }
    return unsafe found.pointee.gr_gid
  }
}
