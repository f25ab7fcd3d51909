internal import Database
internal import Glibc
internal import Lifecycle

/// The directory `quarantine` beside the archive: mode 0700, files named after what they were and when they came.
struct Quarantine {
  let path: String

  init(besides file: String) throws(ArchiveError) {
    path = Self.directory(of: file) + "/quarantine"
    do { try PrivateDirectory.prepare(path) } catch { throw .database(.directory(error)) }
  }

  /// A path that is free.
  func place(for file: String, wall: UInt64) throws(ArchiveError) -> String {
    let kept = names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    guard kept.count < ArchiveLimits.quarantined else { throw .quarantineFull(path: path, count: kept.count) }
    let stem = Self.name(of: file) + ".\(wall)"
    var name = stem
    var number = 1
    while kept.contains(name) {
      number += 1
      name = stem + ".\(number)"
    }
    return path + "/" + name
  }

  /// The file that came last of those that were called so.
  func latest(for file: String) -> String {
    let stem = Self.name(of: file) + "."
    let kept = names.filter { $0.hasPrefix(stem) && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    return path + "/" + (kept.max { ($0.utf8.count, $0) < ($1.utf8.count, $1) } ?? stem + "0")
  }

  private var names: [String] { DirectoryNames.all(in: path) }

  /// A name that was given or taken is durable after this.
  static func sync(directoryOf file: String) throws(ArchiveError) {
    let directory = directory(of: file)
    if let code = DirectoryNames.sync(directory) { throw .file(path: directory, code: code) }
  }

  private static func directory(of file: String) -> String {
    file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
  }

  private static func name(of file: String) -> String {
    file.lastIndex(of: "/").map { String(file[file.index(after: $0)...]) } ?? file
  }
}
