import Glibc

/// What is wrong with a configuration file, with its place.
package enum ConfigurationError: Error, Equatable {
  case unreadable(path: String, code: Int32)
  case malformed(path: String, INIError)
  case unknownSection(String, path: String, line: Int, suggestion: String?)
  case unknownKey(ConfigurationKey, path: String, line: Int, suggestion: String?)
  case repeatedKey(ConfigurationKey, path: String, line: Int, first: Int)
  /// A value that its reader cannot use; `expected` finishes the sentence "… must be".
  case invalidValue(ConfigurationKey, path: String, line: Int, expected: String)
}

/// A configuration file whose every section and key is one that a command declares.
package struct ConfigurationFile: Sendable {
  package let path: String
  package let document: INIDocument
  private let known: Set<ConfigurationKey>

  /// Reads at most `ArgumentsLimits.bytesOfFile`. nil when there is no such file.
  package static func read(path: String, for command: Command) throws(ConfigurationError) -> ConfigurationFile? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw .unreadable(path: path, code: errno)
    }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4_096)
    while bytes.count <= ArgumentsLimits.bytesOfFile {
      let size = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if size < 0 && errno == EINTR { continue }
      guard size >= 0 else { throw .unreadable(path: path, code: errno) }
      if size == 0 { break }
      bytes.append(contentsOf: chunk[..<size])
    }
    return try ConfigurationFile(path: path, bytes: bytes, for: command)
  }

  /// `path` is for the errors.
  package init(path: String, bytes: [UInt8], for command: Command) throws(ConfigurationError) {
    self.path = path
    do { document = try INIDocument.parse(bytes) } catch { throw .malformed(path: path, error) }
    known = Set(command.configurationKeys)
    try check(openSections: command.openSections)
  }

  private func check(openSections: [String]) throws(ConfigurationError) {
    let sections = Set(known.map(\.section))
    func isOpen(_ name: String) -> Bool { openSections.contains { name.hasPrefix($0) && name != $0 } }
    func unknown(_ name: String, _ line: Int) -> ConfigurationError {
      let candidates = sections.sorted() + openSections.map { String($0.prefix { $0 != "." }) }
      return .unknownSection(name, path: path, line: line, suggestion: Spelling.closest(to: name, among: candidates))
    }
    for section in document.sections where !sections.contains(section.name) && !isOpen(section.name) {
      throw unknown(section.name, section.line)
    }
    var lines: [ConfigurationKey: Int] = [:]
    for entry in document.entries {
      let key = ConfigurationKey(section: entry.section, key: entry.key)
      if let first = lines.updateValue(entry.line, forKey: key) {
        throw .repeatedKey(key, path: path, line: entry.line, first: first)
      }
      if known.contains(key) || isOpen(entry.section) { continue }
      guard sections.contains(entry.section) else { throw unknown(entry.section, entry.line) }
      let candidates = known.lazy.filter { $0.section == entry.section }.map(\.key).sorted()
      throw .unknownKey(
        key, path: path, line: entry.line, suggestion: Spelling.closest(to: entry.key, among: candidates))
    }
  }

  package func entry(_ key: ConfigurationKey) -> INIDocument.Entry? {
    document.entries.last { $0.section == key.section && $0.key == key.key }
  }

  /// The entries of an open section, in order.
  package func entries(inSection name: String) -> [INIDocument.Entry] {
    document.entries.filter { $0.section == name }
  }
}

extension ConfigurationError: CustomStringConvertible {
  /// One sentence for the user, with file and line where there is one.
  package var description: String {
    switch self {
    case .unreadable(let path, let code):
      "The configuration file \(shown(path)) cannot be read: \(unsafe String(cString: strerror(code)))."
    case .malformed(let path, let error):
      switch error {
      case .tooLarge: "\(shown(path)) has more than \(ArgumentsLimits.bytesOfFile) bytes."
      case .notText(let line): "\(shown(path)):\(line): this line is not UTF-8 text."
      case .lineTooLong(let line): "\(shown(path)):\(line): this line is too long."
      case .malformed(let line): "\(shown(path)):\(line): write [section] or key = value here."
      }
    case .unknownSection("", let path, let line, _):
      "\(shown(path)):\(line): write the [section] that this key belongs to above it."
    case .unknownSection(let name, let path, let line, let suggestion):
      "\(shown(path)):\(line): there is no section [\(shown(name))]"
        + UsageError.question(suggestion.map { "[\($0)]" })
    case .unknownKey(let key, let path, let line, let suggestion):
      "\(shown(path)):\(line): [\(shown(key.section))] has no key \(shown(key.key))" + UsageError.question(suggestion)
    case .repeatedKey(let key, let path, let line, let first):
      "\(shown(path)):\(line): \(shown(key.key)) is set in line \(first) already."
    case .invalidValue(let key, let path, let line, let expected):
      "\(shown(path)):\(line): \(shown(key.key)) must be \(expected)."
    }
  }

  private func shown(_ text: String) -> String { TerminalText.neutralised(text) }
}
