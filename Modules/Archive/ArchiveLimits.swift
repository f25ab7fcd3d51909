/// Bounds of what is kept on disk, each with its reason.
package enum ArchiveLimits {
  /// Messages kept; the oldest goes. About 40 MB of common messages, which fits an SD card many times.
  package static let messages = 100_000
  /// Bytes of pages in use before the oldest messages go: an SD card of 4 GB has room for it beside a system, and a copy
  /// of it besides.
  package static let bytes: UInt64 = 128 << 20
  /// How long a message is kept, in milliseconds: a year.
  package static let ageMilliseconds: UInt64 = 365 * 86_400_000
  /// The oldest go in groups of this size, so that not every message costs a deletion and no deletion holds up a write.
  package static let trimStep = 500
  /// For how long a message of our own that nobody took over is not trimmed, in milliseconds: the longest that any kind
  /// of packet lives. Whatever the policy says, what was promised is sent first.
  package static let unsentMilliseconds: UInt64 = 48 * 3_600_000
  /// Cards of strangers kept, as many as the directory of peers has room for beside those of contacts; the one saved
  /// longest ago goes.
  package static let strangers = 1_024
  /// Contacts that are read to be sorted: more than a session ever keeps.
  package static let contacts = 10_000
  /// Writes that share one transaction: a transaction of so many messages takes a few milliseconds.
  package static let groupedWrites = 256
  /// Rows that are sealed, or opened for good, in one transaction.
  package static let sealingStep = 500
  /// Rows that a search opens before it lets others at the archive: two or three milliseconds of work.
  package static let searchSlice = 1_000
  /// Messages that an export or a replay holds at once: less than a megabyte of common ones.
  package static let replaySlice = 256
  /// Messages that are checked before others are let at the archive.
  package static let checkSlice = 256
  /// Damaged numbers that a walk steps over before it lets others at the archive: some milliseconds of work.
  package static let damagedSlice = 1_000
  /// Of these, so many are single numbers; then the steps double, so that a file made to be endless ends.
  package static let damagedSteps = 900
  /// Ranges of damaged numbers that are kept apart, for the account of them.
  package static let damagedRanges = 256
  /// Words of one search, and their bytes together: what a person types.
  package static let searchWords = 16
  package static let searchBytes = 256
  /// Bytes that the log takes in a day before it is said to be too much: a card that bears 10 TB lives ten years.
  package static let bytesWrittenPerDay: UInt64 = 1 << 30
  /// Damaged files kept in quarantine. Nothing is deleted there, so one more is refused until a person has looked.
  package static let quarantined = 8
  /// Ranges of rows that a salvage tries, so that a file made to be endless ends.
  package static let salvageAttempts = 200_000
  /// Groups of packets seen that are sealed or opened at once: a few megabytes where all are full.
  package static let seenSlice = 16
}
