internal import Archive
internal import Arguments
internal import Glibc
internal import Keying

/// `relaychatd init`: the one way in which the keys of a sealed node begin.
enum InitCommand {
  static let table = Command(
    "relaychatd init", summary: "begin a node whose state is sealed on disk",
    examples: [
      CommandExample(
        "relaychatd init --key passphrase", "asks for a passphrase; the daemon asks for it at every start"),
      CommandExample(
        "(umask 077; openssl rand -hex 32 > ~/relay.kek); relaychatd init --key file:$HOME/relay.kek",
        "a key file, on another disk or stick at best"),
      CommandExample("relaychatd init --key credential", "relay.kek of LoadCredentialEncrypted= in a unit of systemd"),
    ],
    options: [
      CommandOption(
        "state", short: "s", value: "DIRECTORY", help: "Where the node is kept, mode 0700; empty, or not there yet.",
        environment: "RELAYCHAT_STATE")
    ] + KeySource.options,
    notes: [
      "Identity and messages are made when the daemon starts. Who loses the passphrase or the key file loses the node: "
        + "keep a copy of the file apart, or a relaychat backup.",
      "Exit codes: 0 begun, 2 usage, 3 configuration, 5 there is a node already, 10 to 19 keys refused.",
    ])

  static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
    do throws(DaemonError) {
      let parsed: ParsedCommand
      do { parsed = try table.parse(arguments) } catch { throw .usage(error) }
      switch parsed {
      case .help(let text): StandardStreams.write(text, to: 1)
      case .version: StandardStreams.write("relaychatd \(Daemon.version)\n", to: 1)
      case .run(let invocation): try begin(invocation, environment)
      }
      return ExitCode.success
    } catch {
      StandardStreams.write("relaychatd init: \(error.sentence)\n", to: 2)
      return error.exitCode
    }
  }

  private static func begin(_ invocation: Invocation, _ environment: [String: String]) throws(DaemonError) {
    umask(0o077)
    let settings = Settings(invocation, environment: environment)
    let path = settings.text("state") ?? StandardPaths(environment: environment, user: geteuid()).state
    let source: KeySource?
    do { source = try KeySource(settings) } catch { throw .setting(error) }
    guard let source else { throw .noKeyChosen }
    let state: StateDirectory
    do { state = try StateDirectory(path: path) } catch { throw .state(error) }
    let custody = KeyCustody(directory: state.path, surroundings: .system(environment: environment))
    let kind: KeySlot.Kind
    do throws(KeyingError) {
      kind = try custody.create(with: try source.provider(prompt: "New passphrase: ")).kind
    } catch {
      throw .keying(error)
    }
    StandardStreams.write(
      "A sealed node begins in \(TerminalText.neutralised(path)); start it with \(option(kind, source)).\n", to: 1)
    withExtendedLifetime(state) {}
  }

  private static func option(_ kind: KeySlot.Kind, _ source: KeySource) -> String {
    switch kind {
    case .credential: "--key credential"
    case .passphrase: "--key passphrase"
    case .keyFile: "the same --key"
    }
  }
}
