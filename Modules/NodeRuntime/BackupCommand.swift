internal import Archive
internal import Arguments
internal import Bytes
internal import Database
internal import Glibc
internal import Keying
internal import Primitives
internal import Storing
internal import Streams

/// `relaychatd backup FILE`: everything that a node keeps, in one file that a passphrase opens.
///
/// The entries are files of the state directory: the slot file, with one slot for that passphrase, and copies of the
/// databases as they were at one moment each, made in memory: nothing is written into the state directory, which may be
/// full or read-only. A daemon may run meanwhile.
enum BackupCommand {
  static let table = Command(
    "relaychatd backup", summary: "write a node into one sealed file",
    examples: [
      CommandExample("relaychatd backup node.backup --key passphrase", "asks for the passphrase of the backup"),
      CommandExample(
        "relaychatd backup node.backup --key file:/media/stick/relay.kek --backup-passphrase-fd 3 3<secret",
        "for programs"),
    ],
    options: [OfflineCommand.stateOption, passphraseOption] + KeySource.options,
    arguments: [CommandArgument("FILE", help: "Where there is no file yet.")],
    notes: [
      "The file holds the identity: whoever has it and its passphrase is this node. Two that run at once are one to all "
        + "others, who then miss messages."
    ])

  static let passphraseOption = CommandOption(
    "backup-passphrase-fd", value: "NUMBER",
    help: "Read the passphrase of the backup from this descriptor: its first line.",
    environment: "RELAYCHAT_BACKUP_PASSPHRASE_FD")

  static func passphrase(_ context: OfflineContext, prompt: String) throws(DaemonError) -> Secret {
    guard let secret = PassphraseInput.read(descriptor: try context.descriptor("backup-passphrase-fd"), prompt: prompt)
    else { throw .backup(path: "", .passphraseLength(0)) }
    return secret
  }

  @Sendable static func run(_ context: OfflineContext) throws(DaemonError) {
    let path = context.invocation.argument("FILE") ?? ""
    let custody = context.custody(context.statePath)
    let inventory = try OfflineContext.keying { () throws(KeyingError) in try custody.inventory() }
    guard !inventory.state.isEmpty else { throw .keying(.notInitialised(directory: context.statePath)) }
    let secret = try passphrase(context, prompt: "Passphrase of the backup: ")
    var slots: [UInt8]?
    if inventory.hasSlotFile {
      guard let source = try context.keySource() else {
        throw .noKeyNamed(try OfflineContext.keying { () throws(KeyingError) in try custody.readSlots().kinds })
      }
      let keys = try OfflineContext.keying { () throws(KeyingError) in
        try custody.open(with: source.provider(prompt: "Passphrase of this node: "), isCounted: false)
      }
      try refuseHalf(
        of: context.statePath, dataKey: keys.dataKey, storeID: keys.storeID, counter: keys.stateCounter)
      slots = try OfflineContext.keying { () throws(KeyingError) in
        try custody.slotFile(openedBy: .passphrase(Secret(copying: secret.bytes)), of: keys)
      }
    }
    let use = StateUse(of: context.statePath)
    defer { withExtendedLifetime(use) {} }
    do throws(BackupError) {
      var writer = try BackupWriter(
        path: path, passphrase: secret, wallMilliseconds: TimeSource.system.wallMilliseconds(),
        surroundings: context.surroundings)
      if let slots { try writer.entry(StateInventory.slotFile, slots.rawSpan) }
      for name in StateFiles.databases where inventory.state.contains(name) {
        try add(context.statePath + "/" + name, as: name, isInUse: use.isOfAnother, to: &writer)
      }
      try writer.finish()
    } catch {
      throw .backup(path: path, error)
    }
    OfflineContext.say("The node is in \(TerminalText.neutralised(path)); relaychat restore makes one of it.")
  }

  /// A backup without the settings or the history of a node that has them would take the place of one that is whole. What is
  /// damaged or older is copied as it is: that is for the restored node to say.
  private static func refuseHalf(
    of path: String, dataKey: borrowing Secret, storeID: [UInt8], counter: UInt64
  ) throws(DaemonError) {
    guard let state = try? StateDirectory(path: path) else {
      // A daemon runs, or the directory is read-only.
      guard counter > 1 else { return }
      guard !SQLiteDatabase.isNothing(at: path + "/store.db") else {
        throw .store(.sealed(.missing(path: path + "/store.db")))
      }
      guard !SQLiteDatabase.isNothing(at: path + "/archive.db") else { throw .archiveLost(path: path + "/archive.db") }
      return
    }
    defer { withExtendedLifetime(state) {} }
    do throws(DaemonError) {
      _ = try StateLook.at(state, dataKey: dataKey, storeID: storeID, counter: counter, mayBeOlder: true)
    } catch {
      switch error {
      case .archiveLost, .store(.sealed(.missing)): throw error
      default: break
      }
    }
  }

  private static func add(
    _ path: String, as name: String, isInUse: Bool, to writer: inout BackupWriter
  ) throws(BackupError) {
    let copy: DatabaseCopy
    do throws(DatabaseError) { copy = try SQLiteDatabase.snapshot(of: path, isInUse: isInUse) } catch {
      throw .file(FileSystemError(.read, path: path, code: error.isFull ? ENOSPC : EIO))
    }
    try writer.begin(name, byteCount: UInt64(copy.byteCount))
    var offset = 0
    while offset < copy.byteCount {
      let bytes: [UInt8]
      do throws(DatabaseError) { bytes = try copy.bytes(from: offset, count: 1 << 16) } catch {
        throw .file(FileSystemError(.read, path: path, code: EIO))
      }
      try writer.append(bytes.rawSpan)
      offset += bytes.count
    }
  }
}

/// Names of what a backup holds.
enum StateFiles {
  /// The plain store before the sealed one: while both are there it is the one that counts.
  static let databases = ["plain.db", "store.db", "archive.db"]
  static let all = [StateInventory.slotFile] + databases
}
