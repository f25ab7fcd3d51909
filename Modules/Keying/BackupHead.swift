internal import Bytes

/// The head of a backup, in the open: magic 8, format 1, backup ID 16, time 8 (ms since 1970), slot 100 of a passphrase.
/// Every record is bound to these bytes.
package struct BackupHead: Equatable, Sendable {
  static let magic = Array("RCback.1".utf8)
  static let format: UInt8 = 1
  package static let idByteCount = 16
  package static let byteCount = 8 + 1 + idByteCount + 8 + KeySlot.byteCount

  /// Random.
  package let id: [UInt8]
  package let wallMilliseconds: UInt64
  package let slot: KeySlot

  package init(id: [UInt8], wallMilliseconds: UInt64, slot: KeySlot) {
    self.id = id
    self.wallMilliseconds = wallMilliseconds
    self.slot = slot
  }

  /// Total: exactly `byteCount` bytes, or an error.
  package init(decoding bytes: RawSpan) throws(BackupError) {
    var reader = ByteReader(bytes)
    do {
      guard try reader.array(Self.magic.count) == Self.magic else { throw BackupError.magic }
      let format = try reader.u8()
      guard format == Self.format else { throw BackupError.formatTooNew(format) }
      id = try reader.array(Self.idByteCount)
      wallMilliseconds = try reader.u64()
      slot = try KeySlot(reading: &reader)
      guard slot.kind == .passphrase else { throw BackupError.slot(.kind(slot.kind.rawValue)) }
      try reader.finish()
    } catch let error as BackupError {
      throw error
    } catch let fault as KeySlots.Fault {
      throw fault == .length ? .truncated : .slot(fault)
    } catch {
      throw .truncated
    }
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter(capacity: Self.byteCount)
    writer.bytes(Self.magic)
    writer.u8(Self.format)
    writer.bytes(id)
    writer.u64(wallMilliseconds)
    writer.bytes(slot.encoded)
    return writer.bytes
  }
}
