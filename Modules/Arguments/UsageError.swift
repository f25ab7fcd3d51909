/// What is wrong with a command line.
package enum UsageError: Error, Equatable {
  case unknownOption(String, suggestion: String?)
  case missingValue(option: String)
  case unexpectedValue(option: String)
  case repeatedOption(String)
  case unknownCommand(String, suggestion: String?)
  case missingCommand(among: [String])
  case missingArgument(String)
  case unexpectedArgument(String)
  case tooManyArguments
}

extension UsageError: CustomStringConvertible {
  /// One sentence for the user. What the user typed is neutralised.
  package var description: String {
    switch self {
    case .unknownOption(let name, let suggestion):
      "There is no option \(TerminalText.neutralised(name))\(Self.question(suggestion))"
    case .missingValue(let option): "The option \(option) needs a value."
    case .unexpectedValue(let option): "The option \(option) takes no value."
    case .repeatedOption(let option): "The option \(option) may be given once only."
    case .unknownCommand(let name, let suggestion):
      "There is no command \(TerminalText.neutralised(name))\(Self.question(suggestion))"
    case .missingCommand(let names): "Say what to do: \(names.joined(separator: ", "))."
    case .missingArgument(let name): "The argument \(name) is missing."
    case .unexpectedArgument(let text): "There is one argument too many: \(TerminalText.neutralised(text))."
    case .tooManyArguments: "There are more than \(ArgumentsLimits.arguments) arguments."
    }
  }

  static func question(_ suggestion: String?) -> String { suggestion.map { "; did you mean \($0)?" } ?? "." }
}
