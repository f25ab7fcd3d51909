package import Arguments
import Glibc

/// The variables that programs look at.
package enum ProgramEnvironment {
  private static let common = [
    "HOME", "NO_COLOR", "TERM", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "STATE_DIRECTORY",
    "RUNTIME_DIRECTORY", "TMPDIR",
  ]

  /// Those, and the ones that the options of `command` name.
  package static func read(for command: Command) -> [String: String] {
    var variables: [String: String] = [:]
    for name in common + names(command) {
      if let value = unsafe getenv(name) { variables[name] = unsafe String(cString: value) }
    }
    return variables
  }

  private static func names(_ command: Command) -> [String] {
    command.options.compactMap(\.environment) + command.subcommands.flatMap(names)
  }
}
