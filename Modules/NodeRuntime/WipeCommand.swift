internal import Archive
internal import Arguments
internal import Glibc
internal import Keying

/// `relaychatd wipe`: removes a node from the disk, keys first.
enum WipeCommand {
  static let table = Command(
    "relaychatd wipe", summary: "remove a node, its keys first, and say what was removed",
    examples: [
      CommandExample("relaychatd wipe --yes", "stop the daemon first"),
      CommandExample("relaychatd wipe --yes --also ~/relay.kek", "with the key file, where it is yours"),
    ],
    options: [
      OfflineCommand.stateOption,
      CommandOption("yes", help: "It is meant: nothing brings the node back but a backup."),
      CommandOption("also", value: "FILE", help: "The key file or credential too.", isRepeatable: true),
    ],
    notes: [
      "A wipe that is interrupted goes on with the next relaychat wipe; before that the daemon does not start, and says so "
        + "(exit code 19).",
      "Where there is no node, nothing is touched, and the exit code is 6. The same where a file of --also is missing or "
        + "a link, with exit code 2.",
      "On flash, what is overwritten may still lie elsewhere on the chip; what was sealed cannot be read without the keys "
        + "that are gone.",
    ])

  @Sendable static func run(_ context: OfflineContext) throws(DaemonError) {
    guard try context.isSet("yes") else { throw .notMeant }
    let path = context.statePath
    let custody = context.custody(path)
    // What a restore that was killed has left beside is the node as well.
    let staged = StagedFiles.remove(StagedFiles.name(for: path), in: context.surroundings.fileSystem)
    for removed in staged {
      OfflineContext.say("removed \(TerminalText.neutralised(removed.path)), \(removed.size) bytes, overwritten")
    }
    // Before the lock, which makes the directory that it is in.
    let inventory = try OfflineContext.keying { () throws(KeyingError) in try custody.inventory() }
    switch NodeEvidence.verdict(on: path, inventory) {
    case .node: break
    case .nothing where !staged.isEmpty:
      OfflineContext.say("\(staged.count) files removed; nothing of the node is left.")
      return
    case .nothing: throw .noNode(path: path, foreign: [])
    case .foreign(let names): throw .noNode(path: path, foreign: names)
    }
    let named = context.settings.all("also").map { path in path.hasPrefix("/") ? path : workingDirectory() + "/" + path
    }
    let isResumed = inventory.hasMark
    if !isResumed {
      if named.count > KeyingLimits.pathsInMarker {
        let limit = KeyingLimits.pathsInMarker
        throw .wipeNames(path: named[limit], .tooMany(limit: limit))
      }
      for path in named {
        if let fault = fault(of: path) { throw .wipeNames(path: path, fault) }
      }
    }
    let state: StateDirectory
    do { state = try StateDirectory(path: path) } catch { throw .state(error) }
    let report = try wipe(custody, named, directory: path)
    // The mark of an interrupted wipe has the names that were given then.
    let unnamed = isResumed ? named.filter { fault(of: $0) != .missing } : []
    for removed in report.removed {
      OfflineContext.say(
        "removed \(TerminalText.neutralised(removed.path)), \(removed.size) bytes\(removed.isOverwritten ? ", overwritten" : "")"
      )
    }
    for left in report.left {
      OfflineContext.say("left \(TerminalText.neutralised(left.path)): \(reason(left.reason))")
    }
    for left in unnamed where !report.left.contains(where: { $0.path == left }) {
      OfflineContext.say("left \(TerminalText.neutralised(left)): it was not named when this wipe began")
    }
    OfflineContext.say(
      report.isComplete && unnamed.isEmpty
        ? "\(report.removed.count) files removed; nothing of the node is left." : "Not all is gone.")
    withExtendedLifetime(state) {}
    guard report.isComplete, unnamed.isEmpty else { throw .wipeIncomplete(report.left.map(\.path) + unnamed) }
  }

  /// Why a file named besides cannot be removed for what it is; nothing when it can.
  private static func fault(of path: String) -> WipeNameFault? {
    var facts = stat()
    guard unsafe lstat(path, &facts) == 0 else { return errno == ENOENT ? .missing : .unreadable(code: errno) }
    switch facts.st_mode & S_IFMT {
    case S_IFREG: return nil
    case S_IFLNK: return .link
    default: return .noFile
    }
  }

  /// On a disk that is full the mark of the wipe takes the place of the lock file, whose block it is written into.
  private static func wipe(
    _ custody: KeyCustody, _ named: [String], directory: String
  ) throws(DaemonError) -> WipeReport {
    do throws(KeyingError) { return try custody.wipe(named: named) } catch {
      guard case .file(let fault) = error, [ENOSPC, EDQUOT].contains(fault.code),
        let mark = WipeMark(paths: named), SpacelessMark.write(mark, in: directory)
      else { throw .keying(error) }
    }
    return try OfflineContext.keying { () throws(KeyingError) in try custody.wipe(named: named) }
  }

  private static func reason(_ reason: WipeReport.Left.Reason) -> String {
    switch reason {
    case .notOurs(let owner): "it belongs to user \(owner)"
    case .refused(let code): SystemErrorText.text(code)
    case .unknown: "it is no file of ours"
    }
  }

  private static func workingDirectory() -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard unsafe getcwd(&buffer, buffer.count) != nil else { return "" }
    let end = buffer.firstIndex(of: 0) ?? buffer.count
    return String(decoding: buffer[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Why a wipe does not remove a file that was named besides.
enum WipeNameFault: Equatable {
  case missing
  /// Its target would be left, or another's be overwritten.
  case link
  case noFile
  case unreadable(code: Int32)
  /// More than the mark of a wipe has room for.
  case tooMany(limit: Int)
}

/// Makes the mark of a wipe where there is no room for a new file.
enum SpacelessMark {
  /// Writes over the content of the lock file, which has a block, and gives it the name of the mark; whoever holds the
  /// lock keeps it. Durable when it returns true.
  static func write(_ mark: WipeMark, in directory: String) -> Bool {
    let (lock, target) = (directory + "/lock", directory + "/" + StateInventory.mark)
    let descriptor = unsafe open(lock, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    let bytes = mark.encoded
    guard unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count,
      ftruncate(descriptor, off_t(bytes.count)) == 0, fsync(descriptor) == 0, unsafe rename(lock, target) == 0
    else { return false }
    return (try? SystemFileSystem().syncDirectory(directory)) != nil
  }
}
