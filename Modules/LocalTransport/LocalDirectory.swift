internal import CLinux
internal import Glibc
internal import Lifecycle
package import Transports
internal import Verifying

/// The directory in which nodes of one machine meet: reads and writes its files, and sees them change.
///
/// `NAME.sock` listens for dials, `NAME.beacon` holds what a node advertises (hint and digest, 12 hexadecimal digits)
/// while it does, `NAME.place` and `air.ini` are described at `LocalAir`. Files are replaced by renaming, so a reader
/// sees the old or the new one.
package struct LocalDirectory: Sendable {
  let path: String
  let name: String

  enum Failure: Error, Equatable {
    case notOurs
    case systemCall(String, code: Int32)
    case pathTooLong(byteCount: Int)
    case nameTaken
  }

  var socketPath: String { "\(path)/\(name).sock" }

  func socketPath(of other: String) -> String { "\(path)/\(other).sock" }

  /// Makes the directory for its owner alone, or checks that the one there is ours.
  func prepare() throws(Failure) {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST { throw .systemCall("mkdir", code: errno) }
    var facts = stat()
    guard unsafe stat(path, &facts) == 0 else { throw .systemCall("stat", code: errno) }
    guard facts.st_mode & S_IFMT == S_IFDIR else { throw .systemCall("open", code: ENOTDIR) }
    guard facts.st_uid == geteuid() || LocalDirectoryOwner.isSkipped else { throw .notOurs }
    do { _ = try UnixSocketAddress(path: socketPath) } catch { throw .pathTooLong(byteCount: socketPath.utf8.count) }
  }

  /// Whether a node of our name runs already.
  var isNameTaken: Bool { isSomebodyListening() }

  /// A socket that listens under our name. One that nobody answers on is replaced.
  func listen() throws(Failure) -> Int32 {
    guard let address = try? UnixSocketAddress(path: socketPath) else {
      throw .pathTooLong(byteCount: socketPath.utf8.count)
    }
    let descriptor = Self.makeSocket()
    guard descriptor >= 0 else { throw .systemCall("socket", code: errno) }
    if !bind(descriptor, address) {
      let code = errno
      let isAnswered = isSomebodyListening()
      if code == EADDRINUSE, !isAnswered, unsafe unlink(socketPath) == 0, bind(descriptor, address) {
        // A node that died left its socket behind.
      } else {
        close(descriptor)
        throw isAnswered ? .nameTaken : .systemCall("bind", code: code)
      }
    }
    guard Glibc.listen(descriptor, 64) == 0 else {
      let code = errno
      close(descriptor)
      throw .systemCall("listen", code: code)
    }
    return descriptor
  }

  private func bind(_ descriptor: Int32, _ address: UnixSocketAddress) -> Bool {
    unsafe address.withPointer { unsafe Glibc.bind(descriptor, $0, $1) } == 0
  }

  private func isSomebodyListening() -> Bool {
    if let descriptor = connect(to: name) {
      close(descriptor)
      return true
    }
    // A node that is busy has its backlog full; it is there all the same.
    return errno == EAGAIN
  }

  /// A connected socket to another node; nil when nobody listens there.
  func connect(to other: String) -> Int32? {
    guard let address = try? UnixSocketAddress(path: socketPath(of: other)) else { return nil }
    let descriptor = Self.makeSocket()
    guard descriptor >= 0 else { return nil }
    guard unsafe address.withPointer({ unsafe Glibc.connect(descriptor, $0, $1) }) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  private static func makeSocket() -> Int32 {
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    return socket(AF_UNIX, type, 0)
  }

  // MARK: Files

  enum Content: Equatable {
    case bytes([UInt8])
    case missing
    /// It is there and cannot be read, or is longer than a file may be.
    case unusable
  }

  func read(_ file: String) -> Content {
    let descriptor = unsafe open("\(path)/\(file)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return errno == ENOENT ? .missing : .unusable }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: LocalTransportLimits.fileBytes + 1)
    var count = 0
    while count < bytes.count {
      let size = unsafe bytes.withUnsafeMutableBytes { buffer in
        unsafe Glibc.read(descriptor, buffer.baseAddress! + count, buffer.count - count)
      }
      if size < 0 { return .unusable }
      guard size > 0 else { break }
      count += size
    }
    return count > LocalTransportLimits.fileBytes ? .unusable : .bytes(Array(bytes[..<count]))
  }

  @discardableResult
  func write(_ text: String, to file: String) -> Bool {
    let temporary = "\(path)/.\(file).\(getpid())"
    let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    let bytes = Array(text.utf8)
    let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
    close(descriptor)
    guard count == bytes.count, unsafe rename(temporary, "\(path)/\(file)") == 0 else {
      unsafe unlink(temporary)
      return false
    }
    return true
  }

  func remove(_ file: String) { unsafe unlink("\(path)/\(file)") }

  /// Names of the files with this ending, without it; at most `LocalTransportLimits.nodes`.
  func names(ending: String) -> [String] {
    var names: [String] = []
    _ = DirectoryNames.forEach(in: path) { file in
      guard file.hasSuffix(ending) else { return true }
      let name = String(file.dropLast(ending.count))
      if LocalName.isValid(name) { names.append(name) }
      return names.count < LocalTransportLimits.nodes
    }
    return names.sorted()
  }

  /// A descriptor that is readable when something in the directory has changed; -1 when there is none.
  func watch() -> Int32 {
    let descriptor = inotify_init1(Int32(O_NONBLOCK) | Int32(O_CLOEXEC))
    guard descriptor >= 0 else { return -1 }
    let events = UInt32(IN_MOVED_TO | IN_MOVED_FROM | IN_CLOSE_WRITE | IN_DELETE | IN_CREATE)
    if unsafe inotify_add_watch(descriptor, path, events) < 0 {
      close(descriptor)
      return -1
    }
    return descriptor
  }

  package static func text(_ advertisement: Advertisement) -> String {
    hex(UInt64(advertisement.hint), digits: 8) + hex(UInt64(advertisement.digest), digits: 4) + "\n"
  }

  package static func advertisement(_ bytes: [UInt8]) -> Advertisement? {
    let digits = bytes.prefix { $0 != UInt8(ascii: "\n") }
    // The numbers would take a sign, too.
    guard digits.count == 12, digits.allSatisfy(isHexadecimal) else { return nil }
    let text = String(decoding: digits, as: UTF8.self)
    guard let hint = UInt32(text.prefix(8), radix: 16), let digest = UInt16(text.suffix(4), radix: 16) else {
      return nil
    }
    return Advertisement(hint: hint, digest: digest)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      true
    default: false
    }
  }

  private static func hex(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

/// The directory where nodes of one machine meet is ours.
enum LocalDirectoryOwner: Verification {
  static let name = "local-directory-owner"
}
