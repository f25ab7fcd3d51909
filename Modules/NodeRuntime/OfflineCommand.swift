internal import Arguments
internal import Glibc
internal import Keying

/// The verbs of `relaychatd` that do something with a state directory and end.
enum OfflineCommand {
  /// - Returns: the exit code; nothing when the words are no such verb.
  static func run(_ words: [String], environment: [String: String]) -> Int32? {
    guard let verb = words.first, let (table, body) = verbs[verb] else { return nil }
    umask(0o077)
    do throws(DaemonError) {
      let parsed: ParsedCommand
      do { parsed = try table.parse(Array(words.dropFirst())) } catch { throw .usage(error) }
      switch parsed {
      case .help(let text): StandardStreams.write(text, to: 1)
      case .version: StandardStreams.write("relaychatd \(Daemon.version)\n", to: 1)
      case .run(let invocation):
        try body(OfflineContext(invocation: invocation, environment: environment))
      }
      return ExitCode.success
    } catch {
      StandardStreams.write("relaychatd \(verb): \(error.sentence)\n", to: 2)
      return error.exitCode
    }
  }

  private static let verbs: [String: (table: Command, body: @Sendable (OfflineContext) throws(DaemonError) -> Void)] = [
    "init": (InitCommand.table, InitCommand.run), "backup": (BackupCommand.table, BackupCommand.run),
    "restore": (RestoreCommand.table, RestoreCommand.run), "wipe": (WipeCommand.table, WipeCommand.run),
    "keys": (KeysCommand.table, KeysCommand.run), "salvage": (SalvageCommand.table, SalvageCommand.run),
  ]

  static let stateOption = CommandOption(
    "state", short: "s", value: "DIRECTORY", help: "Where the node is kept.", environment: "RELAYCHAT_STATE")
}

/// What a verb was told.
struct OfflineContext {
  let invocation: Invocation
  let environment: [String: String]

  var settings: Settings { Settings(invocation, environment: environment) }
  var surroundings: KeyingSurroundings { .system(environment: environment) }
  var statePath: String {
    settings.text("state") ?? StandardPaths(environment: environment, user: geteuid()).state
  }

  func keySource() throws(DaemonError) -> KeySource? {
    do { return try KeySource(settings) } catch { throw .setting(error) }
  }

  func isSet(_ flag: String) throws(DaemonError) -> Bool {
    do { return try settings.flag(flag) } catch { throw .setting(error) }
  }

  func descriptor(_ option: String) throws(DaemonError) -> Int32? {
    guard let text = settings.text(option) else { return nil }
    guard let number = Int32(text), number >= 0 else {
      throw .setting(settings.error(option, expected: "the number of an open descriptor"))
    }
    return number
  }

  func custody(_ directory: String) -> KeyCustody { KeyCustody(directory: directory, surroundings: surroundings) }

  static func say(_ text: String) { StandardStreams.write(text + "\n", to: 1) }

  static func keying<Result: ~Copyable>(
    _ body: () throws(KeyingError) -> Result
  ) throws(DaemonError) -> Result {
    do throws(KeyingError) { return try body() } catch { throw .keying(error) }
  }
}
