internal import Archive
internal import Arguments
internal import Streams

/// `relaychatd salvage`: a new history out of what can be read of a damaged one, which is kept.
enum SalvageCommand {
  static let table = Command(
    "relaychatd salvage", summary: "bring what can be read of a damaged history into a new file",
    examples: [CommandExample("relaychatd salvage", "stop the daemon first; the damaged file goes into quarantine")],
    options: [OfflineCommand.stateOption],
    notes: ["No key is needed: what is sealed is copied as it is. Nothing is deleted."])

  @Sendable static func run(_ context: OfflineContext) throws(DaemonError) {
    let state: StateDirectory
    do { state = try StateDirectory(path: context.statePath) } catch { throw .state(error) }
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
    withExtendedLifetime(state) {}
  }
}
