internal import Bytes

/// What one record of a backup says once it is opened: kind 1, then
///
/// * 1 entry: size 8, name in UTF-8, to the end,
/// * 2 bytes: at least one, to the end,
/// * 3 end: number of entries 4.
package enum BackupContent: Equatable, Sendable {
  case entry(name: String, byteCount: UInt64)
  case bytes([UInt8])
  case end(entries: UInt32)

  package init(decoding bytes: RawSpan) throws(BackupAssembly.Fault) {
    var reader = ByteReader(bytes)
    do {
      switch try reader.u8() {
      case 1:
        let byteCount = try reader.u64()
        guard let name = String(validating: try reader.array(reader.remaining), as: UTF8.self) else {
          throw BackupAssembly.Fault.name
        }
        self = .entry(name: name, byteCount: byteCount)
      case 2:
        guard reader.remaining > 0 else { throw BackupAssembly.Fault.malformed }
        self = .bytes(try reader.array(reader.remaining))
      case 3:
        self = .end(entries: try reader.u32())
        try reader.finish()
      default: throw BackupAssembly.Fault.malformed
      }
    } catch let fault as BackupAssembly.Fault {
      throw fault
    } catch {
      throw .malformed
    }
  }

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    switch self {
    case .entry(let name, let byteCount):
      writer.u8(1)
      writer.u64(byteCount)
      writer.bytes(name.utf8)
    case .bytes(let bytes):
      writer.u8(2)
      writer.bytes(bytes)
    case .end(let entries):
      writer.u8(3)
      writer.u32(entries)
    }
    return writer.bytes
  }
}
