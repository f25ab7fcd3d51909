internal import Archive
internal import Arguments
internal import Keying
internal import Storing
internal import Streams

/// `relaychatd salvage`: a new history out of what can be read of a damaged one, which is kept.
enum SalvageCommand {
  static let table = Command(
    "relaychatd salvage", summary: "bring what can be read of a damaged history into a new file",
    examples: [
      CommandExample("relaychatd salvage", "stop the daemon first; the damaged file goes into quarantine"),
      CommandExample("relaychatd salvage --begin-anew --key passphrase", "the history is gone for good: go on without"),
      CommandExample("relaychatd salvage --erase-open", "erases what lies in quarantine and is not sealed"),
    ],
    options: [
      OfflineCommand.stateOption,
      CommandOption(
        "begin-anew", help: "A sealed node whose history is gone may begin another; the former one is then an old copy."
      ),
      CommandOption(
        "erase-open",
        help: "Erase the files in quarantine that are not sealed, which whoever has the disk reads; only beside keys."),
    ] + KeySource.options,
    notes: [
      "Without an option no key is needed: what is sealed is copied as it is, and nothing is deleted.",
      "What is erased is overwritten first; on flash that may reach other cells than those it stood in.",
    ])

  @Sendable static func run(_ context: OfflineContext) throws(DaemonError) {
    let state: StateDirectory
    do { state = try StateDirectory(path: context.statePath) } catch { throw .state(error) }
    defer { withExtendedLifetime(state) {} }
    if try context.isSet("begin-anew") { return try beginAnew(state, context) }
    if try context.isSet("erase-open") { return try eraseOpen(state, context) }
    let report: SalvageReport
    do {
      report = try ArchiveSalvage.run(path: state.archivePath, wall: TimeSource.system.wallMilliseconds())
    } catch { throw .archive(error) }
    OfflineContext.say(
      "\(report.messages) messages, \(report.contacts) contacts and \(report.cards) cards were brought over.")
    if report.unreadableNumbers > 0 {
      OfflineContext.say("\(report.unreadableNumbers) messages at most could not be read.")
    }
    OfflineContext.say("The damaged file is \(TerminalText.neutralised(report.quarantined)).")
    let open = OpenFiles.quarantined(in: state.path)
    if isSealed(state, context), !open.isEmpty {
      OfflineContext.say("It is not sealed; once it is not needed, relaychatd salvage --erase-open removes it.")
    }
  }

  private static func isSealed(_ state: StateDirectory, _ context: OfflineContext) -> Bool {
    (try? context.custody(state.path).inventory())?.hasSlotFile == true
  }

  /// The store is told under seal, so that nobody but the holder of the key can let a history be lost.
  private static func beginAnew(_ state: StateDirectory, _ context: OfflineContext) throws(DaemonError) {
    let custody = context.custody(state.path)
    guard let source = try context.keySource() else {
      throw .noKeyNamed(try OfflineContext.keying { () throws(KeyingError) in try custody.readSlots().kinds })
    }
    let keys = try OfflineContext.keying { () throws(KeyingError) in
      try custody.open(with: source.provider(prompt: "Passphrase of this node: "), isCounted: false)
    }
    let look = try StateLook.at(
      state, dataKey: keys.dataKey, storeID: keys.storeID, counter: keys.stateCounter, mayArchiveBeLost: true)
    guard look.archive == .missing else { throw .historyIsThere(path: state.archivePath) }
    let fact = NodeValues.kept.archiveFact.entry(StateLook.ArchiveFact.mayBegin.rawValue)
    if look.isStoreThere { try OfflineRecord(state: state, look: look).put([fact], keys) }
    OfflineContext.say("The node begins another history when it is started.")
  }

  private static func eraseOpen(_ state: StateDirectory, _ context: OfflineContext) throws(DaemonError) {
    guard isSealed(state, context) else { throw .keying(.notInitialised(directory: state.path)) }
    let open = OpenFiles.quarantined(in: state.path)
    let files = context.surroundings.fileSystem
    do throws(FileSystemError) {
      for name in open {
        try DurableFile.erase(state.path + "/" + name, in: files)
        if !name.hasSuffix("-wal") { try DurableFile.erase(state.path + "/" + name + "-shm", in: files) }
      }
      if !open.isEmpty { try files.syncDirectory(state.path + "/quarantine") }
    } catch { throw .keying(.file(error)) }
    for name in open { OfflineContext.say("\(TerminalText.neutralised(name)) is erased.") }
    if open.isEmpty { OfflineContext.say("Nothing in quarantine lies open.") }
  }
}
