internal import Arguments
internal import Glibc
internal import Keying
internal import Primitives

/// What the user has named as the holder of the key, before anything of it is read.
struct KeySource: Sendable, Equatable {
  enum Place: Sendable, Equatable {
    /// By its name in the directory of the service manager.
    case credential(name: String)
    /// Read from a descriptor, else from the terminal.
    case passphrase(descriptor: Int32?)
    case file(path: String, isInsecureAllowed: Bool)
  }

  var place: Place

  init(_ place: Place) { self.place = place }

  /// - Returns: nothing where none is named.
  init?(_ settings: Settings) throws(SettingError) {
    guard let text = settings.text("key") else { return nil }
    let descriptor = try settings.text("passphrase-fd").map { (text) throws(SettingError) in
      guard let number = Int32(text), number >= 0 else {
        throw settings.error("passphrase-fd", expected: "the number of an open descriptor")
      }
      return number
    }
    guard
      let source = KeySource(text, descriptor: descriptor, isInsecureAllowed: try settings.flag("insecure-file-key"))
    else {
      throw settings.error("key", expected: "credential, credential:NAME, passphrase or file:PATH")
    }
    self = source
  }

  /// - Returns: nothing for a word that names no holder.
  init?(_ text: String, descriptor: Int32?, isInsecureAllowed: Bool) {
    switch text {
    case "credential": place = .credential(name: KeyProvider.defaultCredential)
    case _ where text.hasPrefix("credential:"):
      let name = String(text.dropFirst(11))
      guard KeyProvider.isCredentialName(name) else { return nil }
      place = .credential(name: name)
    case "passphrase": place = .passphrase(descriptor: descriptor)
    case _ where text.hasPrefix("file:") && text.utf8.count > 5:
      place = .file(path: String(text.dropFirst(5)), isInsecureAllowed: isInsecureAllowed)
    default: return nil
    }
  }

  static let options = [
    CommandOption(
      "key", value: "HOLDER",
      help:
        "What opens the sealed state: credential (relay.kek of the service manager) or credential:NAME, passphrase, or "
        + "file:PATH with 64 hexadecimal digits.",
      environment: "RELAYCHAT_KEY", key: "node.key"),
    CommandOption(
      "passphrase-fd", value: "NUMBER",
      help:
        "Read the passphrase from this descriptor and not from the terminal: its first line, as it is encoded there.",
      environment: "RELAYCHAT_PASSPHRASE_FD"),
    CommandOption(
      "insecure-file-key", help: "The key file may lie beside what it protects, which then protects nothing.",
      key: "node.insecure-file-key"),
  ]

  /// Reads the passphrase where there is one to be read. Blocks until a person has typed it.
  func provider(prompt: String) throws(KeyingError) -> KeyProvider {
    switch place {
    case .credential(let name): return .credential(named: name)
    case .file(let path, let isInsecureAllowed): return .keyFile(path, isInsecureAllowed: isInsecureAllowed)
    case .passphrase(let descriptor):
      guard let secret = PassphraseInput.read(descriptor: descriptor, prompt: prompt) else {
        throw .providerLocked(.passphrase, place: "", code: 0)
      }
      return .passphrase(secret)
    }
  }
}

/// A passphrase from a descriptor or a terminal: one line.
enum PassphraseInput {
  /// Bytes that are counted of a line that is too long: whoever hands in a disk is not waited for.
  private static let largestLine = 1 << 20

  /// - Returns: nothing where there is neither a readable descriptor nor a terminal.
  static func read(descriptor: Int32?, prompt: String) -> Secret? {
    if let descriptor { return line(from: descriptor) }
    let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    var former = termios()
    guard unsafe tcgetattr(terminal, &former) == 0 else { return nil }
    var silent = former
    silent.c_lflag &= ~tcflag_t(ECHO)
    guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
    defer { _ = unsafe tcsetattr(terminal, TCSAFLUSH, &former) }
    StandardStreams.write(prompt, to: terminal)
    let secret = line(from: terminal)
    StandardStreams.write("\n", to: terminal)
    return secret
  }

  /// Up to the end of the line, which is no part of it. Of a line that is too long the size is right and the content is
  /// not, so that it is refused with the size that it has.
  static func line(from descriptor: Int32) -> Secret? {
    let limit = KeyingLimits.passphraseBytes + 1
    var count = 0
    var isReadable = true
    let whole = Secret(count: limit) { (bytes) in
      while count < limit {
        var byte: UInt8 = 0
        let got = unsafe Glibc.read(descriptor, &byte, 1)
        if got < 0, errno == EINTR { continue }
        if got < 0 { isReadable = false }
        guard got == 1, byte != 10 else { break }
        bytes.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
      }
    }
    guard isReadable else { return nil }
    if count == limit {
      var byte: UInt8 = 0
      while count < largestLine, unsafe Glibc.read(descriptor, &byte, 1) == 1, byte != 10 { count += 1 }
      return Secret(count: count) { _ in }
    }
    return Secret(copying: whole.bytes.extracting(0..<count))
  }
}
