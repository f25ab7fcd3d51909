/// The arguments of this process.
package enum ProcessArguments {
  /// Those after the program's name; nil when one of them is no UTF-8. Swift's own list would put U+FFFD in the place of
  /// what cannot be read, and a name or a text would be another than the one that was given.
  package static func words() -> [String]? {
    var words: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let bytes = unsafe CommandLine.unsafeArgv[index] else { break }
      guard let word = unsafe String(validatingCString: bytes) else { return nil }
      words.append(word)
    }
    return words
  }

  /// What the user is told then.
  package static let refusal = "An argument is no UTF-8 text; give it in UTF-8."
}
