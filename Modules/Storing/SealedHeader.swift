internal import Bytes

/// What a sealed store says of itself, sealed in its header row and replaced with every write.
///
/// `format (1) ‖ generation (8) ‖ opened (8) ‖ summary (32) ‖ size of the note (2) ‖ note`, numbers big-endian.
struct SealedHeader: Equatable {
  private static let format: UInt8 = 1

  /// Of the last write.
  var generation: UInt64 = 0
  /// How often a process has opened the store.
  var opened: UInt64 = 0
  var summary = StoreSummary()
  /// The owner's.
  var note: [UInt8] = []

  init() {}

  /// Nothing when the bytes are not exactly a header.
  init?(decoding bytes: [UInt8]) {
    var reader = ByteReader(bytes.rawSpan)
    do {
      guard try reader.u8() == Self.format else { return nil }
      generation = try reader.u64()
      opened = try reader.u64()
      summary = StoreSummary(try reader.bytes(RecordSealer.summaryBytes))
      note = try reader.array(Int(try reader.u16()))
      try reader.finish()
    } catch { return nil }
  }

  var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 64 + note.count)
    writer.u8(Self.format)
    writer.u64(generation)
    writer.u64(opened)
    summary.write(to: &writer)
    writer.u16(UInt16(clamping: note.count))
    writer.bytes(note)
    return writer.bytes
  }
}
