package import Primitives

/// What the user named as the holder of the key. Chosen, never found out: nothing else is tried when it fails.
package struct KeyProvider: ~Copyable, Sendable {
  package enum Source: Equatable, Sendable {
    /// A file in the directory of the service manager, by its name there.
    case credential(name: String)
    case passphrase
    /// - Parameter isInsecureAllowed: whether it may lie beside the data, which protects nothing.
    case keyFile(path: String, isInsecureAllowed: Bool)
  }

  package let source: Source
  /// Empty where none is given.
  let passphrase: Secret

  private init(_ source: Source, passphrase: consuming Secret) {
    self.source = source
    self.passphrase = passphrase
  }

  /// - Parameter name: see `isCredentialName`.
  package static func credential(named name: String = defaultCredential) -> KeyProvider {
    KeyProvider(.credential(name: name), passphrase: Secret(count: 0) { _ in })
  }

  /// The credential that is meant where none is named.
  package static let defaultCredential = "relay.kek"

  /// Whether the service manager takes this as the name of a credential, and it leads to no other directory: 1 to 255
  /// letters, digits, `.`, `-` and `_`, and not `.` or `..`.
  package static func isCredentialName(_ name: String) -> Bool {
    let isKnown = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return isKnown && (1...KeyingLimits.credentialNameBytes).contains(name.utf8.count) && name != "." && name != ".."
  }

  package static func keyFile(_ path: String, isInsecureAllowed: Bool = false) -> KeyProvider {
    KeyProvider(
      .keyFile(path: path, isInsecureAllowed: isInsecureAllowed), passphrase: Secret(count: 0) { _ in })
  }

  package static func passphrase(_ passphrase: consuming Secret) -> KeyProvider {
    KeyProvider(.passphrase, passphrase: passphrase)
  }

  /// A passphrase that nobody has given: the keys are locked.
  package static func lockedPassphrase() -> KeyProvider {
    KeyProvider(.passphrase, passphrase: Secret(count: 0) { _ in })
  }

  package var kind: KeySlot.Kind {
    switch source {
    case .credential: .credential
    case .passphrase: .passphrase
    case .keyFile: .keyFile
    }
  }
}
