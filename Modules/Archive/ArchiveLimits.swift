/// Bounds of what is kept on disk, each with its reason.
package enum ArchiveLimits {
  /// Messages kept; the oldest goes. About 30 MB of common messages, which fits an SD card many times.
  package static let messages = 100_000
  /// The oldest go in groups of this size, so that not every message costs a deletion.
  package static let trimStep = 500
  /// Cards of strangers kept, as many as the directory of peers has room for beside those of contacts; the one saved
  /// longest ago goes.
  package static let strangers = 1_024
  /// Names in the plain store: it holds a handful of settings.
  package static let plainNames = 10_000
  /// Bytes of one value of the plain store.
  package static let valueBytes = 64 << 10
}
