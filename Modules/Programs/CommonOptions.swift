package import Arguments
import Glibc

/// The options that every program which talks to a daemon has.
package enum CommonOptions {
  package static let all = [
    CommandOption(
      "socket", value: "PATH", help: "The control socket of the daemon.", environment: "RELAYCHAT_SOCKET"),
    CommandOption("node", help: "Start a daemon for this program only, and stop it at the end."),
    CommandOption(
      "transport", value: "SPEC", help: "With --node: a transport of that daemon, such as local:/tmp/mesh.",
      isRepeatable: true),
    CommandOption(
      "community-key", value: "FILE",
      help: "With --node: the key of the closed community that daemon belongs to, 64 hexadecimal digits."),
    CommandOption("name", value: "NAME", help: "With --node: the name of that daemon."),
    CommandOption(
      "state", value: "PATH",
      help: "With --node: where that daemon keeps its keys; without it they are gone at the end."),
  ]

  package static let json = CommandOption("json", short: "j", help: "Write one JSON object a line.")

  package static let exitCodes =
    "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 wrong configuration, 4 no daemon answers, 5 state unusable."

  /// What the commands add that are run by relaychatd on a state directory.
  package static let stateExitCodes =
    "Of backup, restore, wipe and keys besides: 6 no node to be wiped, 10 a file of the state was put back from a copy, "
    + "11 one is another's, 12 the slot file is lost, 13 not migrated, 14 the key is missing, 15 locked, 16 wrong, "
    + "17 damaged, 18 held by something else, 19 the node is being wiped. verify has 10 and 11 of its own."

  /// The socket to use: the one that was given, else that of the user's own daemon when it is there, else that of the
  /// system's.
  package static func socket(_ settings: Settings, environment: [String: String]) -> String {
    if let path = settings.text("socket") { return path }
    let own = StandardPaths(environment: environment, user: geteuid()).socket
    if unsafe access(own, F_OK) == 0 { return own }
    let system = StandardPaths(environment: [:], user: 0).socket
    return unsafe access(system, F_OK) == 0 ? system : own
  }
}
