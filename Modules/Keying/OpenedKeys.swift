package import Primitives

/// The data key of a store, and what is known of how it came about.
package struct OpenedKeys: ~Copyable, Sendable {
  /// 32 bytes that everything sealed is sealed under, through keys expanded from it.
  package let dataKey: Secret
  package let storeID: [UInt8]
  /// Raised whenever all files are told how far they are; other files remember it.
  package let stateCounter: UInt64
  /// Which provider opened it.
  package let kind: KeySlot.Kind
  package let protection: AtRestProtection
  /// All slots, in the order of the file.
  package let slots: [KeySlot.Kind]
}

/// What keeps a thief of the disk from reading it.
package enum AtRestProtection: Equatable, Sendable {
  case credential
  case passphrase
  /// A key file elsewhere; as safe as that place is.
  case keyFileElsewhere
  /// A key file beside the data: at rest, nothing is protected.
  case none
}
