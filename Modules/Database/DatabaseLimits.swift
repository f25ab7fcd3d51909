/// The bounds of this module, each with its reason.
package enum DatabaseLimits {
  /// Prepared statements that are kept; a store has a few dozen, and each holds some kilobytes.
  package static let cachedStatements = 64
  /// How long a write waits for a reader of another process, such as a backup.
  package static let busyTimeout = Duration.seconds(5)
  /// Bytes of one text or blob that a reader takes when it names no limit of its own.
  package static let bytesOfColumn = 1 << 20
  /// Bytes of a page, where nothing else is asked for: SQLite's own choice.
  package static let pageBytes = 4_096
  /// Bytes of a page where a commit changes a few short rows in several places: a page is the least that is written.
  package static let smallPageBytes = 1_024
  /// Bytes of the write-ahead log before it is copied back, so that it stays small on an SD card.
  package static let bytesOfLog = 4_096_000
}
