internal import Bytes
internal import Verifying

/// Everything of a packet but its route entries, body and signature, whose places it knows. Wire version 1:
///
///     0     version 1 = 1 · hops 1 · age 4 · route head 1 (bit 7 cut, bit 6 zero, bits 5–4 scope, bits 3–0 count n)
///     7     route entries 4 each
///     7+4n  kind 1 · flags 1 · time to live 1 · time 6 · origin tag 8 · destination tag 8
///     32+4n body · signature 64 when flag 0 is set
///
/// From `kind` to the end is the identified region, which no relay changes. Decoding allocates nothing.
package struct PacketHeader: Hashable, Sendable {
  /// Links the packet crossed before it reached the sender of this copy; stops at 255.
  package let hops: UInt8
  /// Milliseconds that nodes held the packet, added up; stops at 2^32 − 1 (49 days).
  package let age: UInt32
  package let routeCount: Int
  /// A relay did not find room for itself.
  package let isRouteCut: Bool
  /// How far the sender of this copy wants it to go.
  package let scope: PacketScope
  package let kind: PacketKind
  package let flags: PacketFlags
  /// Links the packet may cross, by its origin's wish.
  package let timeToLive: UInt8
  /// Milliseconds since 1970 by the origin's clock.
  package let time: UInt64
  package let origin: Tag
  package let destination: Tag
  /// Size of the packet.
  package let byteCount: Int

  package static let version: UInt8 = 1

  /// Reads the head and checks the whole shape: version, reserved bits, sizes, and that a kind which is always signed
  /// has a signature. Total: any bytes give a header or an error.
  package init(decoding bytes: RawSpan) throws(WireError) {
    let count = bytes.byteCount
    guard count <= WireLimits.packetByteCount else {
      throw .tooLarge(byteCount: count, limit: WireLimits.packetByteCount)
    }
    guard let version = bytes.byte(at: 0) else { throw .bytes(ByteError(needed: 1, available: 0)) }
    guard version == Self.version else { throw .unknownVersion(version) }
    guard count >= Self.routeOffset else { throw .bytes(ByteError(needed: Self.routeOffset, available: count)) }
    let route = bytes.number(UInt8.self, at: 6)
    let start = Self.routeOffset &+ 4 &* Int(route & 0x0F)
    let flagBits = bytes.number(UInt8.self, at: start &+ 1)
    let needed =
      start &+ WireLimits.identifiedHeadByteCount
      &+ (flagBits & 1 != 0 ? WireLimits.signatureByteCount : 0)
    guard count >= needed else { throw .bytes(ByteError(needed: needed, available: count)) }
    // Every field lies within what was just measured.
    hops = bytes.number(UInt8.self, at: 1)
    age = bytes.number(UInt32.self, at: 2)
    kind = PacketKind(rawValue: bytes.number(UInt8.self, at: start))
    flags = PacketFlags(rawValue: flagBits)
    timeToLive = bytes.number(UInt8.self, at: start &+ 2)
    time =
      UInt64(bytes.number(UInt16.self, at: start &+ 3)) &<< 32 | UInt64(bytes.number(UInt32.self, at: start &+ 5))
    origin = Tag(rawValue: bytes.number(UInt64.self, at: start &+ 9))
    destination = Tag(rawValue: bytes.number(UInt64.self, at: start &+ 17))
    guard route & 0x40 == 0, let scope = PacketScope(rawValue: route >> 4 & 3) else {
      throw .reservedRouteBits(route & 0x70)
    }
    let critical = flagBits & PacketFlags.criticalMask
    guard critical == 0 else { throw .criticalFlags(critical) }
    guard flagBits & 1 != 0 || !kind.requiresSignature else { throw .signatureMissing(kind) }
    routeCount = Int(route & 0x0F)
    isRouteCut = route & 0x80 != 0
    self.scope = scope
    byteCount = count
    guard count &- identifiedOffset <= WireLimits.identifiedByteCount else {
      throw .tooLarge(byteCount: count &- identifiedOffset, limit: WireLimits.identifiedByteCount)
    }
  }

  /// For this module, which has just written the bytes.
  init(
    hops: UInt8, age: UInt32, routeCount: Int, isRouteCut: Bool, kind: PacketKind, flags: PacketFlags,
    timeToLive: UInt8, time: UInt64, origin: Tag, destination: Tag, byteCount: Int
  ) {
    scope = .everybody
    self.hops = hops
    self.age = age
    self.routeCount = routeCount
    self.isRouteCut = isRouteCut
    self.kind = kind
    self.flags = flags
    self.timeToLive = timeToLive
    self.time = time
    self.origin = origin
    self.destination = destination
    self.byteCount = byteCount
  }

  /// Where the route entries begin.
  package static let routeOffset = WireLimits.mutableHeadByteCount

  /// Where the identified region begins; it goes to the end.
  package var identifiedOffset: Int { Self.routeOffset &+ 4 &* routeCount }

  /// Links that the packet has crossed when it has come, the last one included; 255 for that and more. Relays count them,
  /// and may lie.
  package var linksCrossed: UInt8 { min(hops, 254) + 1 }

  /// Sealed for one node, by the kind and the destination that it names.
  package var isForOne: Bool { (kind == .personal || kind == .receipt) && destination != .everyone }

  package var isSigned: Bool { flags.contains(.signed) }

  package var identifiedRange: Range<Int> { identifiedOffset..<byteCount }

  package var bodyRange: Range<Int> {
    let start = identifiedOffset &+ WireLimits.identifiedHeadByteCount
    return start..<byteCount &- (isSigned ? WireLimits.signatureByteCount : 0)
  }

  /// What the signature covers: the identified region without the signature.
  package var signedRange: Range<Int> { identifiedOffset..<bodyRange.upperBound }

  /// The 64 bytes at the end, or nothing.
  package var signatureRange: Range<Int>? {
    isSigned ? byteCount &- WireLimits.signatureByteCount..<byteCount : nil
  }

  /// Links this copy may still cross, the one it came over included: min(time to live, the kind's maximum) − hops, and
  /// not below 0. A neighbour that gets it passes it on when at least 2 are left, with one more hop counted.
  package var remainingHops: Int {
    max(0, Int(HopsOfKind.isSkipped ? timeToLive : min(timeToLive, kind.maximumTimeToLive)) &- Int(hops))
  }

  /// Whether a neighbour that got this copy may pass it on.
  package var mayCrossAnotherLink: Bool { remainingHops >= 2 }
}

/// A packet goes no further than its kind may.
enum HopsOfKind: Verification {
  static let name = "hops-of-kind"
}
