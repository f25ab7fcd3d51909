/// Bounds of what is kept on disk, each with its reason.
package enum ArchiveLimits {
  /// Messages kept; the oldest goes. About 30 MB of common messages, which fits an SD card many times.
  package static let messages = 100_000
  /// The oldest go in groups of this size, so that not every message costs a deletion.
  package static let trimStep = 500
  /// Cards of strangers kept, as many as the directory of peers has room for beside those of contacts; the one saved
  /// longest ago goes.
  package static let strangers = 1_024
}
