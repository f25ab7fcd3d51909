/// Writes the help of a command: what it is, examples, then everything else.
enum HelpText {
  /// `commands` from the program to the subcommand that help was asked for.
  static func render(_ commands: [Command]) -> String {
    let command = commands[commands.count - 1]
    let path = commands.map(\.name).joined(separator: " ")
    var blocks = ["\(path) – \(command.summary)"]
    if !command.examples.isEmpty {
      blocks.append(table("Examples:", command.examples.map { ($0.line, $0.purpose) }))
    }
    blocks.append("Usage:\n  " + usage(command, path))
    if !command.subcommands.isEmpty {
      blocks.append(table("Commands:", command.subcommands.map { ($0.name, $0.summary) }))
    }
    if !command.arguments.isEmpty {
      blocks.append(table("Arguments:", command.arguments.map { ($0.name, $0.help) }))
    }
    let options = commands.reversed().flatMap(\.options).map { (left($0), right($0)) }
    let builtIn = [("-h, --help", "Show this text."), ("    --version", "Show the version.")]
    blocks.append(table("Options:", options + builtIn))
    blocks.append(contentsOf: command.notes)
    return blocks.joined(separator: "\n\n") + "\n"
  }

  private static func usage(_ command: Command, _ path: String) -> String {
    if !command.subcommands.isEmpty { return "\(path) [OPTIONS] COMMAND" }
    let arguments = command.arguments.map { argument in
      let name = argument.isRepeatable ? argument.name + "…" : argument.name
      return argument.isOptional ? " [\(name)]" : " \(name)"
    }
    return "\(path) [OPTIONS]" + arguments.joined()
  }

  private static func left(_ option: CommandOption) -> String {
    (option.short.map { "-\($0), " } ?? "    ") + "--" + option.name + (option.value.map { " " + $0 } ?? "")
  }

  private static func right(_ option: CommandOption) -> String {
    var facts: [String] = []
    if option.isRepeatable { facts.append("repeatable") }
    if let value = option.defaultValue { facts.append("default \(value)") }
    if let variable = option.environment { facts.append("environment \(variable)") }
    if let key = option.key { facts.append("file [\(key.section)] \(key.key)") }
    return option.help + (facts.isEmpty ? "" : " (\(facts.joined(separator: "; ")))")
  }

  /// Two columns; the right one is wrapped, and starts on its own line where the left one is wide.
  private static func table(_ title: String, _ rows: [(left: String, right: String)]) -> String {
    let width = min(rows.map(\.left.count).max() ?? 0, 34)
    var lines = [title]
    for row in rows {
      let wrapped = wrap(row.right, width: ArgumentsLimits.helpColumns - width - 4)
      var left = "  " + row.left
      if row.left.count > width {
        lines.append(left)
        left = ""
      }
      for line in wrapped {
        lines.append(left + String(repeating: " ", count: max(0, width + 4 - left.count)) + line)
        left = ""
      }
    }
    return lines.joined(separator: "\n")
  }

  private static func wrap(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    for word in text.split(separator: " ") {
      if !line.isEmpty, line.count + 1 + word.count > width {
        lines.append(line)
        line = ""
      }
      line += (line.isEmpty ? "" : " ") + word
    }
    return lines + [line]
  }
}
