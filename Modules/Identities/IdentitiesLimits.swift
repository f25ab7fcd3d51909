/// Limits of this module, each with its reason.
package enum IdentitiesLimits {
  /// Bytes of UTF-8 in a name: fits a scan response and a terminal column, and eight letters of any script.
  package static let nameByteCount = 32

  /// Bytes of UTF-8 in an icon: the longest family or flag sequence in use takes 28.
  package static let iconByteCount = 32

  /// Hexadecimal digits of an ID that name a peer: as many as are printed. Fewer would be anybody's for the trying.
  package static let prefixDigits = 8

  /// Cards that are remembered: those of every contact, and of a crowded hall, at about 250 bytes each.
  package static let cardCount = 2_048

  /// Contacts that are kept: people one has to do with.
  package static let contactCount = 1_024

  /// Peers that are remembered as bearing the name of one contact: what a person can look at. Whoever else bears it is
  /// refused all the same.
  package static let rivalCount = 8

  /// Milliseconds after which a new prekey is made: a day, so that a stolen one opens little.
  package static let prekeyInterval: UInt64 = 24 * 3_600_000

  /// Milliseconds after its creation that others may seal to a prekey: twice the interval, because a card takes its
  /// time through the mesh.
  package static let prekeySealing: UInt64 = 48 * 3_600_000

  /// Milliseconds after its creation that the private half of a prekey is erased: sealing, and a day on the way.
  package static let prekeyRetention: UInt64 = 72 * 3_600_000

  /// Private prekeys kept. Three are alive on a steady clock; the rest is for clocks that jump, and the oldest goes.
  package static let prekeyCount = 8
}
