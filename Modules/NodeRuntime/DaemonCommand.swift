internal import Arguments
internal import Transports

/// The command line of the daemon, as data.
enum DaemonCommand {
  static func table(transports: [TransportFactory]) -> Command {
    Command(
      "relaychatd", summary: "a node of the RelayChat mesh",
      examples: [
        CommandExample(
          "relaychatd --transport local:/tmp/mesh --name alice", "meets other nodes of this machine in a directory"),
        CommandExample(
          "relaychatd --state ~/node --socket ~/node/control.sock --transport local:/tmp/mesh,x=0,range=10",
          "keeps everything in one place"),
        CommandExample("relaychatd --config /etc/relaychat/relaychatd.conf", "reads all of it from a file"),
      ],
      options: [
        CommandOption(
          "name", short: "n", value: "NAME", help: "What others call this node, up to 32 bytes; else the host's name.",
          environment: "RELAYCHAT_NAME", key: "node.name"),
        CommandOption("icon", value: "EMOJI", help: "One emoji beside the name.", key: "node.icon"),
        CommandOption("bot", help: "Says in the card that this node is a program.", key: "node.bot"),
        CommandOption(
          "transport", short: "t", value: "SCHEME:OPTIONS", help: transportHelp(transports),
          environment: "RELAYCHAT_TRANSPORT", isRepeatable: true),
        CommandOption(
          "community-key", value: "FILE",
          help: "Links only with nodes that hold the same key: 64 hexadecimal digits, as openssl rand -hex 32 writes.",
          environment: "RELAYCHAT_COMMUNITY_KEY", key: "node.community-key"),
        CommandOption(
          "no-route", help: "Does not write this node into the route of what it passes on.", key: "node.no-route"),
        CommandOption(
          "state", short: "s", value: "DIRECTORY", help: "Where keys and messages are kept, mode 0700.",
          environment: "RELAYCHAT_STATE", key: "node.state"),
        CommandOption(
          "keep-days", value: "DAYS", help: "Messages older than this go; 365 unless told.", key: "node.keep-days"),
        CommandOption(
          "keep-megabytes", value: "MB", help: "The oldest go when the history is larger; 128 unless told.",
          key: "node.keep-megabytes"),
        CommandOption(
          "seal-days", value: "DAYS",
          help: "Days without trouble before a step of store migrate is taken, 0 to 365; 7 unless told.",
          key: "store.seal-days"),
        CommandOption(
          "seal-restarts", value: "COUNT",
          help: "Restarts without trouble before a step of store migrate is taken, 0 to 100; 3 unless told.",
          key: "store.seal-restarts"),
      ] + KeySource.options + [
        CommandOption(
          "socket", value: "PATH", help: "The control socket.", environment: "RELAYCHAT_SOCKET", key: "control.socket"),
        CommandOption(
          "group", value: "GROUP", help: "The group whose members may use the control socket.", key: "control.group"),
        CommandOption(
          "config", short: "c", value: "FILE", help: "The configuration file.", environment: "RELAYCHAT_CONFIG"),
        CommandOption(
          "log-level", value: "LEVEL", help: "trace, debug, info, notice, warning or error.", defaultValue: "notice",
          environment: "RELAYCHAT_LOG_LEVEL", key: "log.level"),
        CommandOption(
          "log-format", value: "FORMAT", help: "text or json.", defaultValue: "text", key: "log.format"),
      ],
      openSections: ["transport."],
      notes: [
        "Exit codes: 0 stopped, 1 failure, 2 usage, 3 configuration, 5 state unusable, 10 to 19 keys or files of the state "
          + "refused.",
        "relaychatd init makes a node whose state is sealed; relaychatd init --help explains it.",
        "SIGTERM stops, a second one at once.",
      ])
  }

  private static func transportHelp(_ transports: [TransportFactory]) -> String {
    "How to meet others; may be given several times. Built in: " + transports.map(\.usage).joined(separator: "; ") + "."
  }
}
