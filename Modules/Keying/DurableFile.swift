internal import Bytes
internal import Glibc

/// Files as a whole, made durable step by step.
package enum DurableFile {
  /// The bytes of a file, or nothing when there is none. One byte more than `limit` is read, so that a file that is too
  /// long shows.
  package static func read(
    _ path: String, limit: Int, in fileSystem: any FileSystem
  ) throws(FileSystemError) -> [UInt8]? {
    let file: OpenFile
    do throws(FileSystemError) { file = try fileSystem.open(path, for: .read) } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
    defer { fileSystem.close(file) }
    return try read(limit + 1, from: file, path: path, in: fileSystem)
  }

  /// Reads on: `count` bytes, or fewer at the end.
  package static func read(
    _ count: Int, from file: OpenFile, path: String, in fileSystem: any FileSystem
  ) throws(FileSystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < bytes.count {
      var mutable = bytes.mutableSpan
      var all = unsafe mutable.mutableBytes
      var rest = all._mutatingExtracting(droppingFirst: filled)
      let count = try named(path) { () throws(FileSystemError) in try fileSystem.read(file, into: &rest) }
      if count == 0 { break }
      filled += count
    }
    bytes.removeLast(bytes.count - filled)
    return bytes
  }

  /// Makes a file anew; one of that name, which somebody else may have open, is not written to.
  package static func create(_ path: String, in fileSystem: any FileSystem) throws(FileSystemError) -> OpenFile {
    if try fileSystem.facts(of: path) != nil { try fileSystem.unlink(path) }
    return try fileSystem.open(path, for: .create)
  }

  /// Writes a file and makes its content durable, not yet its name.
  package static func write(
    _ path: String, _ bytes: [UInt8], in fileSystem: any FileSystem
  ) throws(FileSystemError) {
    let file = try create(path, in: fileSystem)
    defer { fileSystem.close(file) }
    try write(file, bytes.rawSpan, path: path, in: fileSystem)
    try named(path) { () throws(FileSystemError) in try fileSystem.sync(file) }
  }

  /// Writes all of `bytes`, however often that takes.
  package static func write(
    _ file: OpenFile, _ bytes: RawSpan, path: String, in fileSystem: any FileSystem
  ) throws(FileSystemError) {
    var written = 0
    while written < bytes.byteCount {
      let rest = bytes.extracting(droppingFirst: written)
      let count = try named(path) { () throws(FileSystemError) in try fileSystem.write(file, rest) }
      guard count > 0 else { throw FileSystemError(.write, path: path, code: EIO) }
      written += count
    }
  }

  /// Puts zeros over the content, durably, then takes the name away. The directory is not yet synced. Nothing happens
  /// when there is no such file; of a link only the name goes. On flash the zeros may lie elsewhere than what they
  /// stand for.
  package static func erase(_ path: String, in fileSystem: any FileSystem) throws(FileSystemError) {
    guard let facts = try fileSystem.facts(of: path) else { return }
    if facts.kind == .file { try overwrite(path, size: facts.size, in: fileSystem) }
    try fileSystem.unlink(path)
  }

  /// Puts zeros over the content, durably.
  static func overwrite(_ path: String, size: Int, in fileSystem: any FileSystem) throws(FileSystemError) {
    let file = try fileSystem.open(path, for: .overwrite)
    defer { fileSystem.close(file) }
    let zeros = [UInt8](repeating: 0, count: min(max(size, 0), KeyingLimits.eraseBytes))
    var rest = size
    while rest > 0 {
      let count = min(rest, zeros.count)
      try write(file, zeros.rawSpan.extracting(first: count), path: path, in: fileSystem)
      rest -= count
    }
    try named(path) { () throws(FileSystemError) in try fileSystem.sync(file) }
  }

  /// The directory that holds `path`.
  package static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// A call on an open file does not know its path; the error is to.
  private static func named<Result>(
    _ path: String, _ body: () throws(FileSystemError) -> Result
  ) throws(FileSystemError) -> Result {
    do throws(FileSystemError) { return try body() } catch {
      throw FileSystemError(error.call, path: path, code: error.code)
    }
  }
}
