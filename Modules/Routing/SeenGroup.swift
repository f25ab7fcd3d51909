internal import Bytes
package import WireFormat

/// Packets that were seen between two saves, as they are kept on disk.
///
/// Layout, big-endian: version 1 (1 byte), flags (1; bit 0: the time of day was known to be right), the random number of
/// the run (8), the second of the run (8), milliseconds since 1970 (8), how many seconds before that the watermark stood
/// (4; all ones for none), number of packets (4); then for each its ID (16), how many seconds before the save it was seen
/// (4) and how many hops were left (1).
package struct SeenGroup: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    package var id: PacketID
    package var ageSeconds: UInt32
    package var hopsLeft: UInt8

    package init(id: PacketID, ageSeconds: UInt32, hopsLeft: UInt8) {
      self.id = id
      self.ageSeconds = ageSeconds
      self.hopsLeft = hopsLeft
    }
  }

  static let version: UInt8 = 1
  static let headerByteCount = 34
  static let entryByteCount = 21
  private static let noWatermark = UInt32.max

  package var run: UInt64
  package var second: UInt64
  package var wallMilliseconds: UInt64
  package var isClockSynchronised: Bool
  package var watermarkAgeSeconds: UInt32?
  package var entries: [Entry]

  package init(
    run: UInt64, second: UInt64, wallMilliseconds: UInt64, isClockSynchronised: Bool, watermarkAgeSeconds: UInt32?,
    entries: [Entry]
  ) {
    self.run = run
    self.second = second
    self.wallMilliseconds = wallMilliseconds
    self.isClockSynchronised = isClockSynchronised
    self.watermarkAgeSeconds = watermarkAgeSeconds
    self.entries = entries
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter(capacity: Self.headerByteCount + entries.count * Self.entryByteCount)
    writer.u8(Self.version)
    writer.u8(isClockSynchronised ? 1 : 0)
    writer.u64(run)
    writer.u64(second)
    writer.u64(wallMilliseconds)
    writer.u32(watermarkAgeSeconds ?? Self.noWatermark)
    writer.u32(UInt32(clamping: entries.count))
    for entry in entries {
      writer.u64(entry.id.high)
      writer.u64(entry.id.low)
      writer.u32(entry.ageSeconds)
      writer.u8(entry.hopsLeft)
    }
    return writer.bytes
  }

  /// Nil for whatever `encoded` does not make.
  package init?(decoding bytes: [UInt8]) {
    var reader = ByteReader(bytes.rawSpan)
    do throws(ByteError) {
      guard try reader.u8() == Self.version else { return nil }
      let flags = try reader.u8()
      guard flags <= 1 else { return nil }
      isClockSynchronised = flags == 1
      run = try reader.u64()
      second = try reader.u64()
      wallMilliseconds = try reader.u64()
      let watermark = try reader.u32()
      watermarkAgeSeconds = watermark == Self.noWatermark ? nil : watermark
      let count = Int(try reader.u32())
      guard count <= RoutingLimits.seenGroupEntries,
        bytes.count == Self.headerByteCount + count * Self.entryByteCount
      else { return nil }
      entries = []
      entries.reserveCapacity(count)
      for _ in 0..<count {
        let id = PacketID(high: try reader.u64(), low: try reader.u64())
        entries.append(Entry(id: id, ageSeconds: try reader.u32(), hopsLeft: try reader.u8()))
      }
    } catch {
      return nil
    }
  }
}
