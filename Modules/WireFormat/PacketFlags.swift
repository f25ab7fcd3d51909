/// The flags of a packet. Part of what is identified and signed: no relay changes them.
///
/// Bits 1–3 are critical: a version that does not know one refuses the packet. Bits 4–7 are hints: ignored, kept.
package struct PacketFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  @inlinable
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// The last 64 bytes are a signature.
  package static let signed = PacketFlags(rawValue: 1 << 0)

  /// The origin did not know its clock to be right when it wrote the time, so the time is no reason to refuse the packet.
  package static let clockUnsure = PacketFlags(rawValue: 1 << 4)

  @usableFromInline static let criticalMask: UInt8 = 0b0000_1110
}
