package import Primitives

/// The data key of a store, and what is known of how it came about.
package struct OpenedKeys: ~Copyable, Sendable {
  /// 32 bytes that everything sealed is sealed under, through keys expanded from it.
  package let dataKey: Secret
  package let storeID: [UInt8]
  /// The number of this opening. Other files remember it.
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

/// How the counter that another file remembers stands to the one of the slot file before this opening.
package enum StateCounterVerdict: Equatable, Sendable {
  case same
  /// The file has missed that many openings: it was put back from a copy, or a node died before it wrote.
  case fileIsOlder(by: UInt64)
  /// The slot file was put back from a copy.
  case slotFileIsOlder(by: UInt64)

  /// - Parameter before: `OpenedKeys.stateCounter` less one.
  package init(remembered: UInt64, before: UInt64) {
    if remembered == before {
      self = .same
    } else if remembered < before {
      self = .fileIsOlder(by: before - remembered)
    } else {
      self = .slotFileIsOlder(by: remembered - before)
    }
  }
}
