package import Primitives

/// What the user named as the holder of the key. Chosen, never found out: nothing else is tried when it fails.
package struct KeyProvider: ~Copyable, Sendable {
  package enum Source: Equatable, Sendable {
    /// `relay.kek` in the directory of the service manager.
    case credential
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

  package static func credential() -> KeyProvider { KeyProvider(.credential, passphrase: Secret(count: 0) { _ in }) }

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
