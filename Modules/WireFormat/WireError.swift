package import Bytes

/// Why bytes are no packet or no link frame. Facts only; each is a counter's reason.
package enum WireError: Error, Equatable, Hashable, Sendable {
  /// A field is cut, or bytes follow the end.
  case bytes(ByteError)
  case tooLarge(byteCount: Int, limit: Int)
  /// Only version 1 is understood.
  case unknownVersion(UInt8)
  /// Bit 6 of the route head is set, or bits 5 and 4 both.
  case reservedRouteBits(UInt8)
  /// Flags 1–3 say something this version must understand and does not.
  case criticalFlags(UInt8)
  /// The kind is always signed, and this packet is not.
  case signatureMissing(PacketKind)
  /// A frame type below 64 that is not one of ours.
  case unknownFrameType(UInt8)
  /// A count of fragments below 2 or above what a packet can have.
  case fragmentCount(Int)
  /// An index that is not below the count.
  case fragmentIndex(Int, count: Int)
  /// A scope that is none, or that nothing can be widened to.
  case scope(UInt8)
  /// A list without an entry, or with more than a frame may carry.
  case listCount(Int, limit: Int)
  /// Ranges that are empty, overlap, touch, or are out of order.
  case ranges
  /// A link whose frames are smaller than the protocol needs.
  case payloadTooSmall(byteCount: Int, limit: Int)
}
