/// Appends big-endian fields to an array; what `ByteReader` reads back.
///
/// Public for the reason of `ByteReader`.
public struct ByteWriter: Sendable {
  /// What has been written.
  @inlinable package var bytes: [UInt8] { storage }

  @usableFromInline var storage: [UInt8]

  /// `capacity` is a hint in bytes: a right one saves growing.
  @inlinable
  package init(capacity: Int = 0) {
    storage = []
    storage.reserveCapacity(capacity)
  }

  /// Continues behind bytes that are already there.
  @inlinable
  package init(appendingTo bytes: consuming [UInt8]) {
    storage = bytes
  }

  @inlinable package var count: Int { storage.count }

  @inlinable
  package mutating func u8(_ value: UInt8) {
    storage.append(value)
  }

  @inlinable
  package mutating func u16(_ value: UInt16) {
    storage.append(bigEndian: value)
  }

  @inlinable
  package mutating func u32(_ value: UInt32) {
    storage.append(bigEndian: value)
  }

  /// The low six bytes of `value`. A value of 2^48 or more is written as 2^48 − 1, the latest time there is.
  @inlinable
  package mutating func u48(_ value: UInt64) {
    let limited = min(value, 0xFFFF_FFFF_FFFF)
    u16(UInt16(truncatingIfNeeded: limited &>> 32))
    u32(UInt32(truncatingIfNeeded: limited))
  }

  @inlinable
  package mutating func u64(_ value: UInt64) {
    storage.append(bigEndian: value)
  }

  @inlinable
  package mutating func bytes(_ run: some Sequence<UInt8>) {
    storage.append(contentsOf: run)
  }

  @inlinable
  package mutating func bytes(_ run: RawSpan) {
    storage.append(copying: run)
  }
}
