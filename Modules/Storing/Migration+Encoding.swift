internal import Bytes

/// The record of a migration on disk, in `plain.db` and, once sealed, in the header of `store.db`: `format (1) ‖
/// phase (1) ‖ flags (1) ‖ since (8) ‖ restarts (4) ‖ confirmed (8)`, then `count (8) ‖ first (8) ‖ last (8)` for each
/// trouble. Flags: 1 held, 2 sealing. Numbers are big-endian, times milliseconds since 1970.
extension Migration {
  private static let format: UInt8 = 1

  /// Nothing when the bytes are not exactly a record.
  package init?(decoding bytes: [UInt8]) {
    var reader = ByteReader(bytes.rawSpan)
    do {
      guard try reader.u8() == Self.format, let phase = Phase(rawValue: try reader.u8()) else { return nil }
      let flags = try reader.u8()
      guard flags & ~3 == 0 else { return nil }
      self.init(now: try reader.u64())
      self.phase = phase
      isHeld = flags & 1 != 0
      isSealing = flags & 2 != 0
      restarts = try reader.u32()
      confirmed = try reader.u64()
      for trouble in Trouble.allCases {
        occurrences[Int(trouble.rawValue)] = Occurrences(
          count: try reader.u64(), first: try reader.u64(), last: try reader.u64())
      }
      try reader.finish()
    } catch { return nil }
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 160)
    writer.u8(Self.format)
    writer.u8(phase.rawValue)
    writer.u8((isHeld ? 1 : 0) | (isSealing ? 2 : 0))
    writer.u64(since)
    writer.u32(restarts)
    writer.u64(confirmed)
    for one in occurrences {
      writer.u64(one.count)
      writer.u64(one.first)
      writer.u64(one.last)
    }
    return writer.bytes
  }
}
