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
      "A wipe that is interrupted goes on with the next wipe, or the next start of the daemon. On flash, what is "
        + "overwritten may still lie elsewhere on the chip; what was sealed cannot be read without the keys that are gone."
    ])

  @Sendable static func run(_ context: OfflineContext) throws(DaemonError) {
    guard try context.isSet("yes") else { throw .notMeant }
    let state: StateDirectory
    do { state = try StateDirectory(path: context.statePath) } catch { throw .state(error) }
    let named = context.settings.all("also").map { path in path.hasPrefix("/") ? path : workingDirectory() + "/" + path
    }
    let report = try OfflineContext.keying { () throws(KeyingError) in
      try context.custody(context.statePath).wipe(named: named)
    }
    for removed in report.removed {
      OfflineContext.say(
        "removed \(TerminalText.neutralised(removed.path)), \(removed.size) bytes\(removed.isOverwritten ? ", overwritten" : "")"
      )
    }
    for left in report.left {
      OfflineContext.say("left \(TerminalText.neutralised(left.path)): \(reason(left.reason))")
    }
    OfflineContext.say(
      report.isComplete ? "\(report.removed.count) files removed; nothing of the node is left." : "Not all is gone.")
    withExtendedLifetime(state) {}
    guard report.isComplete else { throw .wipeIncomplete(report.left.map(\.path)) }
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
