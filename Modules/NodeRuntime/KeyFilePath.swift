internal import Arguments

/// The path of a key file as it is shown, but never a key that was given in its place.
enum KeyFilePath {
  static func shown(_ path: String) -> String {
    let digits = path.utf8.count { (48...57).contains($0) || (65...70).contains($0) || (97...102).contains($0) }
    return digits >= 32 && digits * 10 >= path.utf8.count * 9
      ? "(not shown: it looks like the key itself)" : TerminalText.neutralised(path)
  }
}
