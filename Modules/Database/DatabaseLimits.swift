/// The bounds of this module, each with its reason.
package enum DatabaseLimits {
  /// Prepared statements that are kept; a store has a few dozen, and each holds some kilobytes.
  package static let cachedStatements = 64
  /// How long a write waits for a reader of another process, such as a backup.
  package static let busyTimeout = Duration.seconds(5)
  /// Bytes of one text or blob that a reader takes when it names no limit of its own.
  package static let bytesOfColumn = 1 << 20
  /// Pages of the write-ahead log before it is copied back: 4 MiB, so that the log stays small on an SD card.
  package static let pagesOfLog = 1_000
}
