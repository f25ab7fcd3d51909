/// Bounds of what is kept in the key/value stores, each with its reason.
package enum StoringLimits {
  /// Names with a value: a store holds keys, settings and counters, not messages. Above, nothing new is taken.
  package static let names = 10_000
  /// UTF-8 bytes of a name; it is authenticated with every value.
  package static let nameBytes = 255
  /// Bytes of one value.
  package static let valueBytes = 64 << 10
  /// Values of one `put`: it is one transaction, and memory holds all of it.
  package static let valuesOfPut = 1_000
  /// Deletions remembered while a plain store lies beside the sealed one; as many as there are names, because a
  /// forgotten one could come back out of the plain store. None is forgotten, further ones are refused.
  package static let tombstonesBesidePlain = 10_000
  /// Deletions remembered once there is no plain store: they only tell a deleted name from one that never was.
  package static let tombstones = 1_024
  /// Forgotten together, oldest deletion first, so that not every deletion looks for the oldest.
  package static let tombstoneStep = 128
  /// Bytes of the note that the owner keeps in the header: it is written with every value.
  package static let noteBytes = 512
  /// Bytes of a store id.
  package static let storeIDBytes = 16
}
