internal import Archive
internal import Arguments
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

  @Sendable static func run(_ context: OfflineContext) throws(DaemonError) {
    let path = context.statePath
    guard let source = try context.keySource() else { throw .noKeyChosen }
    let state: StateDirectory
    do { state = try StateDirectory(path: path) } catch { throw .state(error) }
    let custody = context.custody(state.path)
    let kind: KeySlot.Kind
    do throws(KeyingError) {
      kind = try custody.create(with: try source.provider(prompt: "New passphrase: ")).kind
    } catch {
      throw .keying(error)
    }
    OfflineContext.say(
      "A sealed node begins in \(TerminalText.neutralised(path)); start it with \(option(kind, source)).")
    withExtendedLifetime(state) {}
  }

  private static func option(_ kind: KeySlot.Kind, _ source: KeySource) -> String {
    switch kind {
    case .credential:
      source.place == .credential(name: KeyProvider.defaultCredential) ? "--key credential" : "the same --key"
    case .passphrase: "--key passphrase"
    case .keyFile: "the same --key"
    }
  }
}
