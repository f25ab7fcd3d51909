/// The bounds of this module, each with its reason.
package enum TelemetryLimits {
  /// Fields of one record; more are cut, because a record is a sentence and not a dump.
  package static let fieldsPerRecord = 24
  /// UTF-8 bytes of one text value; longer ones end in `…`.
  package static let bytesPerValue = 512
  /// Records that a `MemoryLogSink` keeps when it is not told otherwise.
  package static let rememberedRecords = 1_024
  /// Counter sets in one registry: one per module and a few per transport.
  package static let counterSets = 128
}
