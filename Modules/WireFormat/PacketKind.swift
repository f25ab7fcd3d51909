/// What a packet is for. Every number is a value: an old node relays the kinds of a newer one within its budget.
///
/// | numbers | for |
/// |---|---|
/// | 0–7 | the kinds below |
/// | 8–63 | later kinds of this protocol |
/// | 64–127 | applications |
/// | 128–191 | experiments, never shipped |
/// | 192–255 | reserved |
package struct PacketKind: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt8

  @inlinable
  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Between neighbours only.
  package static let linkControl = PacketKind(rawValue: 0)
  /// Sealed to one recipient.
  package static let personal = PacketKind(rawValue: 1)
  /// Sealed news about a personal message: delivered, read.
  package static let receipt = PacketKind(rawValue: 2)
  /// Sealed to the members of a room.
  package static let room = PacketKind(rawValue: 3)
  /// Signed and readable by everybody.
  package static let `public` = PacketKind(rawValue: 4)
  /// A signed card as its body.
  package static let card = PacketKind(rawValue: 5)
  /// Signed and ahead of all chatter.
  package static let urgent = PacketKind(rawValue: 6)
  /// Signed: who is here.
  package static let presence = PacketKind(rawValue: 7)

  package enum Range: Sendable {
    case known, future, application, experimental, reserved
  }

  package var range: Range {
    switch rawValue {
    case 0...7: .known
    case 8...63: .future
    case 64...127: .application
    case 128...191: .experimental
    default: .reserved
    }
  }

  /// Links that a packet of this kind may cross at most, whatever its origin wrote.
  package var maximumTimeToLive: UInt8 {
    switch self {
    case .linkControl: 1
    case .presence: 8
    default: 128
    }
  }

  /// Milliseconds of age after which nobody carries the packet further. A card also ends with its `sealUntil`, which
  /// is no later than this.
  package var lifetime: UInt64 {
    switch self {
    case .linkControl: 0
    case .personal, .receipt, .room, .card: 48 * hour
    case .urgent: hour
    case .presence: hour / 6
    default: 6 * hour
    }
  }

  package var trafficClass: TrafficClass {
    switch self {
    case .linkControl, .urgent: .control
    case .personal, .receipt: .personal
    case .public, .room: .public
    default: .bulk
    }
  }

  /// Whether relays write themselves into it.
  package var carriesRoute: Bool {
    switch self {
    case .public, .personal, .receipt, .urgent: true
    default: false
    }
  }

  /// Whether a packet of this kind without a signature is refused. A card is signed inside its body.
  @inlinable package var requiresSignature: Bool {
    switch rawValue {
    case 4, 6, 7: true
    default: false
    }
  }
}

private let hour: UInt64 = 3_600_000
