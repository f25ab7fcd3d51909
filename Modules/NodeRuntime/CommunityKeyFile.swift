internal import Bytes
internal import Glibc
internal import Links
internal import Primitives
internal import Verifying

/// Why a file is no community key.
enum CommunityKeyFileError: Error, Equatable {
  case unreadable(code: Int32)
  /// A directory, a pipe or a device.
  case noFile
  /// Others may read it: `mode` has bits beyond 0700.
  case openToOthers(mode: UInt32)
  /// Not 64 hexadecimal digits and at most one line end, or all of them alike.
  case malformed
}

/// The key of a closed community in a file: 64 hexadecimal digits, readable by its owner alone, as
/// `openssl rand -hex 32` writes it.
enum CommunityKeyFile {
  static func read(_ path: String) throws(CommunityKeyFileError) -> CommunityKey {
    // A pipe that nobody writes to must not hold up the start.
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(code: errno) }
    defer { close(descriptor) }
    var facts = stat()
    guard unsafe fstat(descriptor, &facts) == 0 else { throw .unreadable(code: errno) }
    guard facts.st_mode & S_IFMT == S_IFREG else { throw .noFile }
    guard facts.st_mode & 0o077 == 0 || CommunityKeyMode.isSkipped else {
      throw .openToOthers(mode: facts.st_mode & 0o7777)
    }
    var bytes = [UInt8](repeating: 0, count: 66)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    defer { for index in bytes.indices { bytes[index] = 0 } }
    guard count == 64 || (count == 65 && bytes[64] == 0x0A), let text = String(validating: bytes[..<64], as: UTF8.self),
      var key = Hex.decode(text)
    else { throw .malformed }
    defer { for index in key.indices { key[index] = 0 } }
    // 32 bytes of one value are a placeholder that was never filled in, and everybody's guess.
    guard Set(key).count > 1 else { throw .malformed }
    let secret = Secret(copying: key.rawSpan)
    guard let key = CommunityKey(secret) else { throw .malformed }
    return key
  }
}

/// The file of a community key is closed to others.
enum CommunityKeyMode: Verification {
  static let name = "community-key-mode"
}
