internal import Bytes
internal import Glibc

extension KeyCustody {
  /// Removes everything that a node keeps here, keys first. When this has begun it is finished, by this call or by the
  /// next start; when it throws, the mark stands, or nothing has happened.
  ///
  /// - Parameter named: the key file and the credential, where they are files of ours; others are left and reported.
  package func wipe(named: [String] = []) throws(KeyingError) -> WipeReport {
    let names = try list()
    if names.contains(StateInventory.mark) { return try finishWipe() }
    guard let mark = WipeMark(paths: named) else { throw .markerCorrupt(path: markPath) }
    return try run(mark, isMarked: false)
  }

  /// Goes on with a wipe whose mark is there.
  func finishWipe() throws(KeyingError) -> WipeReport {
    let read = try filing { () throws(FileSystemError) in
      try DurableFile.read(markPath, limit: WipeMark.largestByteCount, in: fileSystem)
    }
    let bytes = read ?? []
    guard let mark = try? WipeMark(decoding: bytes.rawSpan) else { throw .markerCorrupt(path: markPath) }
    return try run(mark, isMarked: true)
  }

  private var markPath: String { directory + "/" + StateInventory.mark }

  private func list() throws(KeyingError) -> [String] {
    try filing { () throws(FileSystemError) in try fileSystem.names(in: directory) }
  }

  private func run(_ mark: WipeMark, isMarked: Bool) throws(KeyingError) -> WipeReport {
    var report = WipeReport()
    report.isResumed = isMarked
    var plan = WipePlan(directory: directory, named: mark.paths, isMarked: isMarked)
    var names = try list()
    while true {
      for step in plan.next(seeing: names) {
        switch step {
        case .list: names = try list()
        case .done:
          report.remaining = names
          for name in names where !report.removed.contains(where: { $0.path == directory + "/" + name }) {
            report.left.append(.init(path: directory + "/" + name, reason: .unknown))
          }
          return report
        default:
          try filing { () throws(FileSystemError) in try perform(step, mark, &report) }
        }
      }
    }
  }

  private func perform(
    _ step: WipePlan.Step, _ mark: WipeMark, _ report: inout WipeReport
  ) throws(FileSystemError) {
    switch step {
    case .writeMark:
      let draft = directory + "/" + StateInventory.markDraft
      try DurableFile.write(draft, mark.encoded, in: fileSystem)
      try fileSystem.rename(draft, to: markPath)
      try fileSystem.syncDirectory(directory)
    case .erase(let path): try remove(path, isErasing: true, &report)
    case .remove(let path): try remove(path, isErasing: false, &report)
    case .removeTree(let path): try removeTree(path, depth: 0, &report)
    case .eraseNamed(let path):
      do throws(FileSystemError) {
        guard let facts = try fileSystem.facts(of: path) else { return }
        guard facts.owner == fileSystem.user else {
          return report.left.append(.init(path: path, reason: .notOurs(owner: facts.owner)))
        }
        guard facts.kind == .file else { return report.left.append(.init(path: path, reason: .unknown)) }
        try remove(path, isErasing: true, &report)
      } catch {
        // A place that we may not write to must not keep the wipe from its end.
        guard [EACCES, EPERM, EROFS].contains(error.code) else { throw error }
        report.left.append(.init(path: path, reason: .refused(code: error.code)))
      }
    case .syncDirectory(let path):
      do throws(FileSystemError) { try fileSystem.syncDirectory(path) } catch {
        guard path != directory, [ENOENT, EACCES, EINVAL, EROFS].contains(error.code) else { throw error }
      }
    case .giveUp(let path): throw FileSystemError(.unlink, path: path, code: EEXIST)
    case .list, .done: break
    }
  }

  private func remove(_ path: String, isErasing: Bool, _ report: inout WipeReport) throws(FileSystemError) {
    guard let facts = try fileSystem.facts(of: path) else { return }
    guard facts.kind != .directory else { return try removeTree(path, depth: 0, &report) }
    var isOverwritten = false
    if isErasing, facts.kind == .file {
      do throws(FileSystemError) {
        try DurableFile.overwrite(path, size: facts.size, in: fileSystem)
        isOverwritten = true
      } catch {
        // A disk that does not take zeros any more still gives up the name.
        guard error.code == EIO || error.code == ENOSPC else { throw error }
      }
    }
    try fileSystem.unlink(path)
    report.removed.append(.init(path: path, size: facts.size, isOverwritten: isOverwritten))
  }

  private func removeTree(_ path: String, depth: Int, _ report: inout WipeReport) throws(FileSystemError) {
    guard let facts = try fileSystem.facts(of: path) else { return }
    guard facts.kind == .directory else { return try remove(path, isErasing: true, &report) }
    guard depth < KeyingLimits.directoryDepth else {
      throw FileSystemError(.removeDirectory, path: path, code: ELOOP)
    }
    for name in try fileSystem.names(in: path).sorted() {
      try removeTree(path + "/" + name, depth: depth + 1, &report)
    }
    try fileSystem.syncDirectory(path)
    try fileSystem.removeDirectory(path)
    report.removed.append(.init(path: path, size: 0, isOverwritten: false))
  }
}
