/// A command line, understood.
package struct Invocation: Sendable {
  /// The command and its subcommand, outermost first.
  package let commands: [Command]
  /// Option names and their values in the order given; a flag has the value `true`.
  package let options: [String: [String]]
  /// Positional arguments by name.
  package let arguments: [String: [String]]

  /// The innermost command.
  package var command: Command { commands[commands.count - 1] }

  /// Every option that the command line could have had.
  package var knownOptions: [CommandOption] { commands.flatMap(\.options) }

  /// The first value of a positional argument.
  package func argument(_ name: String) -> String? { arguments[name]?.first }
}

/// What the user wants.
package enum ParsedCommand: Sendable {
  case run(Invocation)
  /// The text to print on standard output.
  case help(String)
  case version
}

extension Command {
  /// Understands the arguments after the program's name: `--option value`, `--option=value`, `-o value`, `-ovalue`,
  /// grouped flags `-abc`, `--` before arguments that start with a dash. `--help`, `-h` and `--version` win over any
  /// error that follows them.
  package func parse(_ words: [String]) throws(UsageError) -> ParsedCommand {
    guard words.count <= ArgumentsLimits.arguments else { throw .tooManyArguments }
    var parser = CommandParser(root: self)
    return try parser.parse(words)
  }
}

private struct CommandParser {
  private var commands: [Command]
  private var options: [String: [String]] = [:]
  private var positional: [String] = []

  init(root: Command) { commands = [root] }

  private var current: Command { commands[commands.count - 1] }
  private var known: [CommandOption] { commands.flatMap(\.options) }

  mutating func parse(_ words: [String]) throws(UsageError) -> ParsedCommand {
    var rest = words[...]
    var optionsEnded = false
    while let word = rest.popFirst() {
      if optionsEnded || word == "-" || !word.hasPrefix("-") {
        try take(word)
      } else if word == "--" {
        optionsEnded = true
      } else if word == "--help" || word == "-h" {
        return .help(HelpText.render(commands))
      } else if word == "--version" {
        return .version
      } else if word.hasPrefix("--") {
        try takeLong(word, &rest)
      } else {
        try takeShort(word, &rest)
      }
    }
    guard current.subcommands.isEmpty else { throw .missingCommand(among: current.subcommands.map(\.name)) }
    return .run(Invocation(commands: commands, options: options, arguments: try namedArguments()))
  }

  private mutating func take(_ word: String) throws(UsageError) {
    guard !current.subcommands.isEmpty else {
      positional.append(word)
      return
    }
    guard let subcommand = current.subcommands.first(where: { $0.name == word }) else {
      throw .unknownCommand(
        word, suggestion: Spelling.closest(to: word, among: current.subcommands.lazy.map(\.name)))
    }
    commands.append(subcommand)
  }

  private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    let body = word.dropFirst(2)
    let name = String(body.prefix { $0 != "=" })
    guard let option = known.first(where: { $0.name == name }) else {
      let suggestion = Spelling.closest(to: name, among: known.map(\.name) + ["help", "version"])
      throw .unknownOption("--" + name, suggestion: suggestion.map { "--" + $0 })
    }
    let attached = body.count > name.count ? String(body.dropFirst(name.count + 1)) : nil
    if option.isFlag {
      guard attached == nil else { throw .unexpectedValue(option: "--" + name) }
      try record(option, "true")
    } else if let value = attached ?? rest.popFirst() {
      try record(option, value)
    } else {
      throw .missingValue(option: "--" + name)
    }
  }

  private mutating func takeShort(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      guard let option = known.first(where: { $0.short == letter }) else {
        throw .unknownOption("-\(letter)", suggestion: nil)
      }
      if option.isFlag {
        try record(option, "true")
        continue
      }
      guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
        throw .missingValue(option: "-\(letter)")
      }
      try record(option, value)
      return
    }
  }

  private mutating func record(_ option: CommandOption, _ value: String) throws(UsageError) {
    if !option.isRepeatable, !option.isFlag, options[option.name] != nil {
      throw .repeatedOption("--" + option.name)
    }
    options[option.name, default: []].append(value)
  }

  private func namedArguments() throws(UsageError) -> [String: [String]] {
    var rest = positional[...]
    var named: [String: [String]] = [:]
    for argument in current.arguments {
      guard let first = rest.popFirst() else {
        if argument.isOptional { break }
        throw .missingArgument(argument.name)
      }
      named[argument.name] = [first]
      if argument.isRepeatable {
        named[argument.name]?.append(contentsOf: rest)
        rest = []
      }
    }
    if let extra = rest.first { throw .unexpectedArgument(extra) }
    return named
  }
}
