/// Where a value came from.
package enum SettingOrigin: Sendable, Equatable, CustomStringConvertible {
  case flag
  case environment(variable: String)
  case file(path: String, line: Int)
  case byDefault

  package var description: String {
    switch self {
    case .flag: "command line"
    case .environment(let variable): "environment variable \(variable)"
    case .file(let path, let line): "\(path):\(line)"
    case .byDefault: "default"
    }
  }
}

/// A value that its reader cannot use.
package struct SettingError: Error, Equatable, CustomStringConvertible {
  package let name: String
  package let value: String
  package let origin: SettingOrigin
  /// Finishes the sentence "… must be".
  package let expected: String

  /// Configuration when a file is to blame, usage otherwise.
  package var exitCode: Int32 { if case .file = origin { ExitCode.configuration } else { ExitCode.usage } }

  package var description: String {
    let shown = TerminalText.neutralised(value)
    let place = TerminalText.neutralised(origin.description)
    return "\(name) must be \(expected), not \"\(shown)\" (\(place))."
  }
}

/// The values of all options of an invocation: the command line wins over the environment, that over the file, that
/// over the default; and every value knows where it came from.
package struct Settings: Sendable {
  package struct Setting: Sendable, Equatable {
    package let values: [String]
    package let origin: SettingOrigin
  }

  private let settings: [String: Setting]

  /// A variable that is set but empty counts as not set.
  package init(_ invocation: Invocation, environment: [String: String] = [:], file: ConfigurationFile? = nil) {
    var settings: [String: Setting] = [:]
    for option in invocation.knownOptions {
      if let values = invocation.options[option.name] {
        settings[option.name] = Setting(values: values, origin: .flag)
      } else if let name = option.environment, let value = environment[name], !value.isEmpty {
        settings[option.name] = Setting(values: [value], origin: .environment(variable: name))
      } else if let key = option.key, let file, let entry = file.entry(key) {
        settings[option.name] = Setting(values: [entry.value], origin: .file(path: file.path, line: entry.line))
      } else if let value = option.defaultValue {
        settings[option.name] = Setting(values: [value], origin: .byDefault)
      }
    }
    self.settings = settings
  }

  /// nil when nothing sets it and it has no default.
  package subscript(name: String) -> Setting? { settings[name] }

  package func text(_ name: String) -> String? { settings[name]?.values.first }

  package func all(_ name: String) -> [String] { settings[name]?.values ?? [] }

  package func flag(_ name: String) throws(SettingError) -> Bool {
    guard let text = text(name) else { return false }
    switch text.lowercased() {
    case "true", "yes", "on", "1": return true
    case "false", "no", "off", "0": return false
    default: throw error(name, expected: "yes or no")
    }
  }

  package func integer(_ name: String, in range: ClosedRange<Int>) throws(SettingError) -> Int? {
    guard let text = text(name) else { return nil }
    guard let value = Int(text), range.contains(value) else {
      throw error(name, expected: "a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  /// An error about the value of `name`, for a reader with rules of its own.
  package func error(_ name: String, expected: String) -> SettingError {
    SettingError(
      name: name, value: text(name) ?? "", origin: settings[name]?.origin ?? .byDefault, expected: expected)
  }
}
