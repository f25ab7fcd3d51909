internal import Bytes

/// 32 bytes of a digest as four big-endian words, so that it is hashable and costs no allocation.
package struct SHA256Digest: Hashable, Sendable {
  package let first: UInt64
  package let second: UInt64
  package let third: UInt64
  package let fourth: UInt64

  package init(first: UInt64, second: UInt64, third: UInt64, fourth: UInt64) {
    self.first = first
    self.second = second
    self.third = third
    self.fourth = fourth
  }

  /// All 32 bytes in order.
  package var bytes: [UInt8] {
    var writer = ByteWriter(capacity: SHA256.byteCount)
    writer.u64(first)
    writer.u64(second)
    writer.u64(third)
    writer.u64(fourth)
    return writer.bytes
  }
}
