/// How much a record matters, in rising order.
package enum LogLevel: Int, Sendable, Comparable, CaseIterable {
  case trace, debug, info, notice, warning, error

  /// The name in text, JSON, on the command line and in the configuration file.
  package var name: String {
    switch self {
    case .trace: "trace"
    case .debug: "debug"
    case .info: "info"
    case .notice: "notice"
    case .warning: "warning"
    case .error: "error"
    }
  }

  /// The priority of syslog(3), which the journal reads from a `<n>` at the start of a line.
  package var priority: Int {
    switch self {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    }
  }

  /// nil when no level has this name.
  package init?(name: String) {
    guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = level
  }

  package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}
