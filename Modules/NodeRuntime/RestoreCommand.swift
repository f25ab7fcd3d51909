internal import Archive
internal import Arguments
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
    let staging = path + ".restoring"
    let source = try context.keySource()
    let secret = try BackupCommand.passphrase(context, prompt: "Passphrase of the backup: ")
    StagedFiles.remove(staging)
    do { try PrivateDirectory.prepare(staging) } catch { throw .state(.directory(error)) }
    do throws(DaemonError) {
      do throws(BackupError) { try copy(file, secret, to: staging, context) } catch {
        throw .backup(path: file, error)
      }
      let isSealed = unsafe access(staging + "/" + StateInventory.slotFile, F_OK) == 0
      if isSealed, let source {
        try OfflineContext.keying { () throws(KeyingError) in
          try context.custody(staging).replaceSlot(
            openedBy: .passphrase(Secret(copying: secret.bytes)), with: source.provider(prompt: "New passphrase: "))
        }
        _ = unsafe unlink(staging + "/" + StateInventory.backup)
      }
      do throws(FileSystemError) { try StagedFiles.put(staging, inPlaceOf: path) } catch {
        throw .backup(path: file, .file(error))
      }
      let key = isSealed ? (source == nil ? " --key passphrase" : " with the same --key") : ""
      OfflineContext.say(
        "The node is in \(TerminalText.neutralised(path)); start it\(key).")
    } catch {
      StagedFiles.remove(staging)
      throw error
    }
    withExtendedLifetime(state) {}
  }

  private static func copy(
    _ file: String, _ secret: borrowing Secret, to staging: String, _ context: OfflineContext
  ) throws(BackupError) {
    var reader = try BackupReader(path: file, passphrase: secret, surroundings: context.surroundings)
    var current: (descriptor: Int32, path: String)?
    defer { if let current { close(current.descriptor) } }
    func finish() throws(BackupError) {
      guard let done = current else { return }
      current = nil
      defer { close(done.descriptor) }
      guard fsync(done.descriptor) == 0 else { throw .file(FileSystemError(.sync, path: done.path, code: errno)) }
    }
    while let part = try reader.next() {
      switch part {
      case .entry(let name, _):
        try finish()
        // Only names that we give: a backup is no way to other places.
        guard StateFiles.all.contains(name) else { throw .content(.name) }
        let path = staging + "/" + name
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .file(FileSystemError(.open, path: path, code: errno)) }
        current = (descriptor, path)
      case .bytes(let bytes):
        guard let current else { throw .content(.malformed) }
        try StagedFiles.write(bytes, to: current.descriptor, path: current.path)
      }
    }
    try finish()
  }
}

/// A directory that is made beside its place.
enum StagedFiles {
  static func write(_ bytes: [UInt8], to descriptor: Int32, path: String) throws(BackupError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .file(FileSystemError(.write, path: path, code: errno)) }
      rest = rest.dropFirst(count)
    }
  }

  /// Only names of ours; a directory that holds others stays.
  static func remove(_ directory: String) {
    for name in StateFiles.all + [StateInventory.backup, StateInventory.draft] {
      _ = unsafe unlink(directory + "/" + name)
    }
    _ = unsafe rmdir(directory)
  }

  /// The place holds nothing but a lock, which is ours.
  static func put(_ staging: String, inPlaceOf path: String) throws(FileSystemError) {
    try sync(staging)
    _ = unsafe unlink(path + "/lock")
    guard unsafe rename(staging, path) == 0 else { throw FileSystemError(.rename, path: path, code: errno) }
    try sync(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".")
  }

  private static func sync(_ directory: String) throws(FileSystemError) {
    let descriptor = unsafe open(directory.isEmpty ? "/" : directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileSystemError(.open, path: directory, code: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw FileSystemError(.sync, path: directory, code: errno) }
  }
}
