extension PacketHeader {
  /// How often the packet may still be passed on: one less than the links it may still cross, since the link it came
  /// over is one of them.
  @inlinable package var forwardsLeft: UInt8 { UInt8(truncatingIfNeeded: max(0, remainingHops &- 1)) }
}

extension Packet {
  /// Adds milliseconds to the age of an encoded packet that begins at `offset` of `bytes`; it stops at 2^32 − 1.
  /// Bytes too short for a packet are left alone.
  package static func age(_ bytes: inout [UInt8], at offset: Int, by addedMilliseconds: UInt32) {
    guard addedMilliseconds > 0, bytes.count >= offset + PacketHeader.routeOffset else { return }
    let start = offset + 2
    let old = bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let (sum, isOver) = old.addingReportingOverflow(addedMilliseconds)
    setAge(&bytes, at: offset, to: isOver ? UInt32.max : sum)
  }

  /// Replaces the age of an encoded packet that begins at `offset` of `bytes`. Bytes too short are left alone.
  package static func setAge(_ bytes: inout [UInt8], at offset: Int, to milliseconds: UInt32) {
    guard bytes.count >= offset + PacketHeader.routeOffset else { return }
    for index in 0..<4 {
      bytes[offset + 2 + index] = UInt8(truncatingIfNeeded: milliseconds >> (24 - 8 * UInt32(index)))
    }
  }
}

extension Packet {
  /// Replaces how far a copy of an encoded packet that begins at `offset` of `bytes` is to go. Bytes too short are left
  /// alone.
  package static func setScope(_ bytes: inout [UInt8], at offset: Int, to scope: PacketScope) {
    guard bytes.count >= offset + PacketHeader.routeOffset else { return }
    bytes[offset + 6] = bytes[offset + 6] & 0xCF | scope.rawValue << 4
  }
}

extension PacketKind {
  /// Whether the kind is for sessions, when it is for us or for everyone. Others are only passed on.
  @inlinable package var isForSessions: Bool {
    switch self {
    case .personal, .receipt, .public, .card, .urgent, .presence: true
    default: false
    }
  }
}

extension PacketKind {
  /// The kind in print: its name, or its number where it has none here.
  package var name: String {
    switch self {
    case .linkControl: "linkControl"
    case .personal: "personal"
    case .receipt: "receipt"
    case .room: "room"
    case .public: "public"
    case .card: "card"
    case .urgent: "urgent"
    case .presence: "presence"
    default: "kind-\(rawValue)"
    }
  }
}
