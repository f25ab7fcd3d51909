/// Where configuration, state and control socket are unless told otherwise.
///
/// For the superuser and under systemd the places of a system service, for everybody else those of the XDG Base
/// Directory Specification. Pure: the environment and the user are handed in.
package struct StandardPaths: Sendable, Equatable {
  package let configuration: String
  package let state: String
  package let socket: String
  /// A system service shares its socket with a group; a person's own is nobody else's.
  package let isSystem: Bool

  /// - Parameters:
  ///   - environment: of the process; `STATE_DIRECTORY` and `RUNTIME_DIRECTORY` are systemd's.
  ///   - user: the effective user.
  package init(environment: [String: String], user: UInt32) {
    let systemState = environment["STATE_DIRECTORY"].flatMap(Self.first)
    isSystem = user == 0 || systemState != nil
    if isSystem {
      configuration = "/etc/relaychat/relaychatd.conf"
      state = systemState ?? "/var/lib/relaychat"
      socket = (environment["RUNTIME_DIRECTORY"].flatMap(Self.first) ?? "/run/relaychat") + "/control.sock"
      return
    }
    let home = environment["HOME"].flatMap(Self.absolute) ?? "/tmp/relaychat-\(user)"
    let configurationHome = environment["XDG_CONFIG_HOME"].flatMap(Self.absolute) ?? home + "/.config"
    let stateHome = environment["XDG_STATE_HOME"].flatMap(Self.absolute) ?? home + "/.local/state"
    let runtime = environment["XDG_RUNTIME_DIR"].flatMap(Self.absolute)
    configuration = configurationHome + "/relaychat/relaychatd.conf"
    state = stateHome + "/relaychat"
    socket = runtime.map { $0 + "/relaychat/control.sock" } ?? stateHome + "/relaychat/control.sock"
  }

  /// systemd separates several directories by colons; the first is ours.
  private static func first(_ list: String) -> String? { absolute(String(list.prefix { $0 != ":" })) }

  /// The specification says that a relative path is to be ignored.
  private static func absolute(_ path: String) -> String? { path.hasPrefix("/") ? path : nil }
}
