/// What one value of the characteristic carries, written or notified.
///
///     hello   0x01 ‖ version 1 ‖ flags 1 ‖ MTU 2 ‖ token 4 ‖ heard token 4      13 bytes
///     data    0x02 ‖ sequence 1 ‖ frame
///     grant   0x03 ‖ sequence 1                 everything up to this one has come, or is lost
///     probe   0x04 ‖ sequence 1                 the last one sent: grant it
///     bye     0x05
///     tagged  0x06 ‖ token 4 ‖ one of the above  notified to all, for the one whose token it is
///
/// A link begins when both have heard the other's hello; its token is random and says nothing about who we are.
/// Sequence numbers count modulo 256 and are no protection: frames are sealed above. Later versions may append to a
/// hello. Any bytes give a message or nil.
package enum LinkMessage: Sendable, Hashable {
  case hello(Hello)
  case data(sequence: UInt8, frame: [UInt8])
  case grant(UInt8)
  case probe(UInt8)
  case bye
  indirect case tagged(UInt32, LinkMessage)

  package struct Hello: Sendable, Hashable {
    package static let version: UInt8 = 1

    /// Whoever says it has dialled.
    package var isDialler: Bool
    /// The MTU as the sender sees it.
    package var mtu: UInt16
    package var token: UInt32
    /// The token of the hello it has heard; 0 for none.
    package var heard: UInt32

    package init(isDialler: Bool, mtu: UInt16, token: UInt32, heard: UInt32) {
      self.isDialler = isDialler
      self.mtu = mtu
      self.token = token
      self.heard = heard
    }
  }

  package init?(decoding bytes: [UInt8]) { self.init(decoding: bytes[...], mayBeTagged: true) }

  private init?(decoding bytes: ArraySlice<UInt8>, mayBeTagged: Bool) {
    guard let kind = bytes.first else { return nil }
    let rest = bytes.dropFirst()
    switch kind {
    case 0x01:
      guard rest.count >= 12, rest[rest.startIndex] == Hello.version else { return nil }
      let body = Array(rest)
      self = .hello(
        Hello(
          isDialler: body[1] & 1 != 0, mtu: UInt16(body[2]) << 8 | UInt16(body[3]), token: Self.number(body[4..<8]),
          heard: Self.number(body[8..<12])))
    case 0x02:
      guard rest.count >= 2, let sequence = rest.first else { return nil }
      self = .data(sequence: sequence, frame: Array(rest.dropFirst()))
    case 0x03:
      guard rest.count == 1, let sequence = rest.first else { return nil }
      self = .grant(sequence)
    case 0x04:
      guard rest.count == 1, let sequence = rest.first else { return nil }
      self = .probe(sequence)
    case 0x05:
      guard rest.isEmpty else { return nil }
      self = .bye
    case 0x06:
      guard mayBeTagged, rest.count >= 5,
        let inner = LinkMessage(decoding: rest.dropFirst(4), mayBeTagged: false)
      else { return nil }
      self = .tagged(Self.number(rest.prefix(4)), inner)
    default: return nil
    }
  }

  package var bytes: [UInt8] {
    switch self {
    case .hello(let hello):
      [0x01, Hello.version, hello.isDialler ? 1 : 0, UInt8(hello.mtu >> 8), UInt8(truncatingIfNeeded: hello.mtu)]
        + Self.bytes(hello.token) + Self.bytes(hello.heard)
    case .data(let sequence, let frame): [0x02, sequence] + frame
    case .grant(let sequence): [0x03, sequence]
    case .probe(let sequence): [0x04, sequence]
    case .bye: [0x05]
    case .tagged(let token, let inner): [0x06] + Self.bytes(token) + inner.bytes
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reduce(0) { $0 << 8 | UInt32($1) } }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * UInt32($0))) }
  }
}
