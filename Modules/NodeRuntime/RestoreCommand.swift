internal import Archive
internal import Arguments
internal import Bytes
internal import Database
internal import Glibc
internal import Keying
internal import Primitives

/// `relaychatd restore FILE`: makes the node of a backup where there is none.
///
/// Everything is written into a directory beside, which takes the place of the empty one at once when the whole backup
/// was read and is on the disk: there is never half a node.
enum RestoreCommand {
  static let table = Command(
    "relaychatd restore", summary: "make a node of a backup",
    examples: [
      CommandExample("relaychatd restore node.backup", "opened by the passphrase of the backup from now on"),
      CommandExample("relaychatd restore node.backup --key file:/media/stick/relay.kek", "opened by this key file"),
    ],
    options: [OfflineCommand.stateOption, BackupCommand.passphraseOption] + KeySource.options,
    arguments: [CommandArgument("FILE", help: "What relaychat backup has written.")],
    notes: ["Let the former node run no more: the two would be one to all others."])

  @Sendable static func run(_ context: OfflineContext) throws(DaemonError) {
    let (file, path) = (context.invocation.argument("FILE") ?? "", context.statePath)
    let state: StateDirectory
    do { state = try StateDirectory(path: path) } catch { throw .state(error) }
    let custody = context.custody(path)
    let inventory = try OfflineContext.keying { () throws(KeyingError) in try custody.inventory() }
    guard inventory.state.isEmpty, !inventory.hasSlotFile, !inventory.hasMark else {
      throw .nodeIsThere(path: path)
    }
    guard inventory.unknown.isEmpty else { throw .foreignFiles(path: path, inventory.unknown) }
    let staging = StagedFiles.name(for: path)
    let source = try context.keySource()
    let secret = try BackupCommand.passphrase(context, prompt: "Passphrase of the backup: ")
    StagedFiles.remove(staging, in: context.surroundings.fileSystem)
    do { try PrivateDirectory.prepare(staging) } catch { throw .state(.directory(error)) }
    do throws(DaemonError) {
      do throws(BackupError) { try copy(file, secret, to: staging, context) } catch {
        throw .backup(path: file, error)
      }
      let isSealed = unsafe access(staging + "/" + StateInventory.slotFile, F_OK) == 0
      if isSealed {
        try settle(staging, secret, context)
        if let source {
          try OfflineContext.keying { () throws(KeyingError) in
            try context.custody(staging).replaceSlot(
              openedBy: .passphrase(Secret(copying: secret.bytes)), with: source.provider(prompt: "New passphrase: "))
          }
        }
        _ = unsafe unlink(staging + "/" + StateInventory.backup)
      }
      do throws(FileSystemError) {
        try StagedFiles.put(staging, inPlaceOf: path, in: context.surroundings.fileSystem)
      } catch {
        throw .backup(path: file, .file(error))
      }
      let key = isSealed ? (source == nil ? " --key passphrase" : " with the same --key") : ""
      OfflineContext.say(
        "The node is in \(TerminalText.neutralised(path)); start it\(key).")
      if !isSealed {
        OfflineContext.say(
          "The backup is of a node that is not sealed, and this one is not either: whoever has the disk reads it; "
            + "relaychatd init --help says how to seal it.")
      }
    } catch {
      StagedFiles.remove(staging, in: context.surroundings.fileSystem)
      throw error
    }
    withExtendedLifetime(state) {}
  }

  /// The files of a backup are of one moment each, and the node may have made records in between: they all learn the
  /// highest number that any of them has, and the next.
  private static func settle(
    _ staging: String, _ secret: borrowing Secret, _ context: OfflineContext
  ) throws(DaemonError) {
    let custody = context.custody(staging)
    let keys = try OfflineContext.keying { () throws(KeyingError) in
      try custody.open(with: .passphrase(Secret(copying: secret.bytes)), isCounted: false)
    }
    let state: StateDirectory
    do { state = try StateDirectory(path: staging) } catch { throw .state(error) }
    defer { _ = unsafe unlink(staging + "/lock") }
    let look = try StateLook.at(
      state, dataKey: keys.dataKey, storeID: keys.storeID, counter: keys.stateCounter, mayArchiveBeLost: true,
      mayBeOlder: true)
    try OfflineRecord(state: state, look: look).make(with: keys) { (counter) throws(KeyingError) in
      if let counter { try custody.count(to: counter, with: keys.dataKey) }
    }
  }

  private static func copy(
    _ file: String, _ secret: borrowing Secret, to staging: String, _ context: OfflineContext
  ) throws(BackupError) {
    let files = context.surroundings.fileSystem
    var reader = try BackupReader(path: file, passphrase: secret, surroundings: context.surroundings)
    var current: (file: OpenFile, path: String)?
    defer { if let current { files.close(current.file) } }
    func finish() throws(FileSystemError) {
      guard let done = current else { return }
      current = nil
      defer { files.close(done.file) }
      try files.sync(done.file)
    }
    while let part = try reader.next() {
      switch part {
      case .entry(let name, _):
        // Only names that we give: a backup is no way to other places.
        guard StateFiles.all.contains(name) else { throw .content(.name) }
        let path = staging + "/" + name
        do throws(FileSystemError) {
          try finish()
          current = (try DurableFile.create(path, in: files), path)
        } catch { throw .file(error) }
      case .bytes(let bytes):
        guard let current else { throw .content(.malformed) }
        do throws(FileSystemError) {
          try DurableFile.write(current.file, bytes.rawSpan, path: current.path, in: files)
        } catch { throw .file(error) }
      }
    }
    do throws(FileSystemError) { try finish() } catch { throw .file(error) }
  }
}

/// A directory that is made beside its place.
enum StagedFiles {
  static func name(for directory: String) -> String {
    var name = directory
    while name.count > 1, name.last == "/" { name.removeLast() }
    return name + ".restoring"
  }

  /// Only names of ours, overwritten first: they may be in the open. A directory that holds others stays.
  ///
  /// - Returns: what was removed.
  @discardableResult
  static func remove(_ directory: String, in files: any FileSystem) -> [(path: String, size: Int)] {
    var removed: [(path: String, size: Int)] = []
    for name in StateFiles.all + [StateInventory.backup, StateInventory.draft, "lock"] {
      let path = directory + "/" + name
      guard let facts = try? files.facts(of: path), facts.kind == .file else { continue }
      guard (try? DurableFile.erase(path, in: files)) != nil else { continue }
      removed.append((path, facts.size))
    }
    try? files.removeDirectory(directory)
    return removed
  }

  /// The place holds nothing but a lock, which is ours.
  static func put(_ staging: String, inPlaceOf path: String, in files: any FileSystem) throws(FileSystemError) {
    try files.syncDirectory(staging)
    try? files.unlink(path + "/lock")
    try files.rename(staging, to: path)
    try files.syncDirectory(DurableFile.directory(of: path))
  }
}
