/// Everything there is to know about one command, as plain data: the parser, `--help`, the keys of the configuration
/// file, the manual page and the shell completion are all made from it.
package struct Command: Sendable {
  /// The program's name, or the word that selects a subcommand.
  package let name: String
  /// One sentence without a full stop.
  package let summary: String
  /// What a newcomer wants to see first: complete command lines.
  package let examples: [CommandExample]
  package let options: [CommandOption]
  package let arguments: [CommandArgument]
  /// A command with subcommands needs one of them and takes no arguments of its own. The options of a command are
  /// understood before and after the name of its subcommand.
  package let subcommands: [Command]
  /// Beginnings of sections whose names and keys are open, such as `transport.`.
  package let openSections: [String]
  /// Further paragraphs for the end of the help text, such as exit codes.
  package let notes: [String]

  package init(
    _ name: String, summary: String, examples: [CommandExample] = [], options: [CommandOption] = [],
    arguments: [CommandArgument] = [], subcommands: [Command] = [], openSections: [String] = [], notes: [String] = []
  ) {
    self.name = name
    self.summary = summary
    self.examples = examples
    self.options = options
    self.arguments = arguments
    self.subcommands = subcommands
    self.openSections = openSections
    self.notes = notes
  }

  /// The options of this command and of all its subcommands that a configuration file may set.
  package var configurationKeys: [ConfigurationKey] {
    options.compactMap(\.key) + subcommands.flatMap(\.configurationKeys)
  }
}

/// A complete command line and what it is for.
package struct CommandExample: Sendable {
  package let line: String
  package let purpose: String

  package init(_ line: String, _ purpose: String) {
    self.line = line
    self.purpose = purpose
  }
}

/// A positional argument.
package struct CommandArgument: Sendable {
  /// In capitals, as the help shows it.
  package let name: String
  package let help: String
  package let isOptional: Bool
  /// Takes all that is left; only the last argument may.
  package let isRepeatable: Bool

  package init(_ name: String, help: String, isOptional: Bool = false, isRepeatable: Bool = false) {
    self.name = name
    self.help = help
    self.isOptional = isOptional
    self.isRepeatable = isRepeatable
  }
}

/// An option, with every place its value may come from.
package struct CommandOption: Sendable {
  /// Without the dashes; also the name of the setting.
  package let name: String
  package let short: Character?
  /// The name of the value in the help, in capitals; nil for a flag, which is on or off.
  package let value: String?
  package let help: String
  package let defaultValue: String?
  /// Environment variable, `RELAYCHAT_…`.
  package let environment: String?
  package let key: ConfigurationKey?
  /// May be given several times, and then has several values. From the environment it is one value.
  package let isRepeatable: Bool

  package init(
    _ name: String, short: Character? = nil, value: String? = nil, help: String, defaultValue: String? = nil,
    environment: String? = nil, key: ConfigurationKey? = nil, isRepeatable: Bool = false
  ) {
    self.name = name
    self.short = short
    self.value = value
    self.help = help
    self.defaultValue = defaultValue
    self.environment = environment
    self.key = key
    self.isRepeatable = isRepeatable
  }

  package var isFlag: Bool { value == nil }
}

/// A key in a section of the configuration file, written `section.key`.
package struct ConfigurationKey: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  package let section: String
  package let key: String

  package init(section: String, key: String) {
    self.section = section
    self.key = key
  }

  /// Split at the last dot, because sections may have dots of their own.
  package init(stringLiteral value: String) {
    let split = value.lastIndex(of: ".")
    section = split.map { String(value[..<$0]) } ?? ""
    key = split.map { String(value[value.index(after: $0)...]) } ?? value
  }

  package var description: String { "\(section).\(key)" }
}
