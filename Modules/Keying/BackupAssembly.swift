/// Holds a backup to its order: entries, each with as many bytes as it said, then the end with their number.
///
/// Names can stand for files: not empty, at most 255 bytes, no separator, no control characters, not `.` or `..`, each
/// once.
package struct BackupAssembly: Equatable, Sendable {
  package enum Fault: Error, Equatable, Sendable {
    case malformed
    case name
    case repeatedName
    /// An entry ended before or after its size.
    case size
    /// Records of bytes are full but for the last one of an entry.
    case chunk
    case tooManyEntries
    /// The end counts other entries than there were, or is not in the last record.
    case end
  }

  /// Bytes of content in a full record.
  package static let chunkByteCount = KeyingLimits.recordBytes - 1

  private var names: Set<String> = []
  private var missing: UInt64 = 0
  package private(set) var isAtEnd = false

  package init() {}

  /// Bytes that the entry has still to come.
  package var missingByteCount: UInt64 { missing }
  package var entryCount: UInt32 { UInt32(truncatingIfNeeded: names.count) }

  /// - Parameter isLast: whether the record said so.
  package mutating func accept(_ content: BackupContent, isLast: Bool) throws(Fault) {
    guard !isAtEnd else { throw .end }
    switch content {
    case .entry(let name, let byteCount):
      guard !isLast else { throw .end }
      guard missing == 0 else { throw .size }
      guard Self.isName(name) else { throw .name }
      guard names.count < Int(KeyingLimits.entries) else { throw .tooManyEntries }
      guard names.insert(name).inserted else { throw .repeatedName }
      missing = byteCount
    case .bytes(let bytes):
      guard !isLast else { throw .end }
      let count = UInt64(bytes.count)
      guard count <= missing else { throw .size }
      guard count == min(missing, UInt64(Self.chunkByteCount)), count > 0 else { throw .chunk }
      missing -= count
    case .end(let entries):
      guard missing == 0 else { throw .size }
      guard isLast, entries == entryCount else { throw .end }
      isAtEnd = true
    }
  }

  private static func isName(_ name: String) -> Bool {
    let bytes = name.utf8
    return !bytes.isEmpty && bytes.count <= KeyingLimits.entryNameBytes && name != "." && name != ".."
      && bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
  }
}
