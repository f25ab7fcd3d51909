internal import Bytes
internal import Identities
internal import Sessions

extension Conversation {
  var peer: PeerID? { if case .peer(let peer) = self { peer } else { nil } }
}

extension PeerID {
  init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.init(high: bytes[..<8].bigEndian, low: bytes[8...].bigEndian)
  }
}

extension MessageID {
  var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 16)
    writer.u64(high)
    writer.u64(low)
    return writer.bytes
  }

  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    self.init(high: bytes[..<8].bigEndian, low: bytes[8...].bigEndian)
  }
}

extension StoredMessage {
  var pathBytes: [UInt8] {
    var writer = ByteWriter(capacity: path.count * 4)
    for entry in path { writer.u32(entry) }
    return writer.bytes
  }

  static func path(_ bytes: [UInt8]) -> [UInt32] {
    stride(from: 0, to: bytes.count - bytes.count % 4, by: 4).map { start in
      UInt32(truncatingIfNeeded: bytes[start..<start + 4].bigEndian)
    }
  }
}

extension ArraySlice<UInt8> {
  var bigEndian: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}
