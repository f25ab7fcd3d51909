internal import Bytes

/// What an origin puts into a packet, before it has bytes.
package struct PacketDraft: Sendable {
  package let kind: PacketKind
  /// Bits 4–7 only; the signature's own flag is set by `signed`.
  package let hints: UInt8
  /// Links the packet may cross. More than the kind's maximum is written as the maximum.
  package let timeToLive: UInt8
  /// Milliseconds since 1970; at most 2^48 − 1.
  package let time: UInt64
  package let origin: Tag
  package let destination: Tag
  package let body: [UInt8]

  /// Refuses a body beyond the limit. `timeToLive` is the kind's maximum unless given.
  package init(
    kind: PacketKind, timeToLive: UInt8? = nil, time: UInt64, origin: Tag, destination: Tag = .everyone,
    body: [UInt8], hints: UInt8 = 0
  ) throws(WireError) {
    guard body.count <= WireLimits.bodyByteCount else {
      throw .tooLarge(byteCount: body.count, limit: WireLimits.bodyByteCount)
    }
    self.kind = kind
    self.hints = hints & 0xF0
    self.timeToLive = min(timeToLive ?? kind.maximumTimeToLive, kind.maximumTimeToLive)
    self.time = min(time, 0xFFFF_FFFF_FFFF)
    self.origin = origin
    self.destination = destination
    self.body = body
  }

  /// The packet without a signature. Refused for a kind that is always signed.
  package func unsigned() throws(WireError) -> Packet {
    guard !kind.requiresSignature else { throw .signatureMissing(kind) }
    return packet(flags: [], signature: [])
  }

  /// The packet with the 64 bytes that `sign` gives for the identified region; the signer puts the label
  /// `relaychat/packet-signature/1` before it.
  package func signed<Failure: Error>(
    by sign: (_ region: RawSpan) throws(Failure) -> [UInt8]
  ) throws(Failure) -> Packet {
    var region = ByteWriter(capacity: WireLimits.identifiedHeadByteCount + body.count)
    write(flags: .signed, into: &region)
    let bytes = region.bytes
    let signature = try sign(bytes.rawSpan)
    precondition(signature.count == WireLimits.signatureByteCount, "a signature has 64 bytes")
    return packet(flags: .signed, signature: signature)
  }

  private func write(flags: PacketFlags, into writer: inout ByteWriter) {
    writer.u8(kind.rawValue)
    writer.u8(flags.rawValue | hints)
    writer.u8(timeToLive)
    writer.u48(time)
    writer.u64(origin.rawValue)
    writer.u64(destination.rawValue)
    writer.bytes(body)
  }

  private func packet(flags: PacketFlags, signature: [UInt8]) -> Packet {
    let byteCount =
      WireLimits.mutableHeadByteCount + WireLimits.identifiedHeadByteCount + body.count + signature.count
    var writer = ByteWriter(capacity: byteCount)
    writer.u8(PacketHeader.version)
    writer.u8(0)
    writer.u32(0)
    writer.u8(0)
    write(flags: flags, into: &writer)
    writer.bytes(signature)
    let header = PacketHeader(
      hops: 0, age: 0, routeCount: 0, isRouteCut: false, kind: kind, flags: flags.union(PacketFlags(rawValue: hints)),
      timeToLive: timeToLive, time: time,
      origin: origin, destination: destination, byteCount: byteCount)
    return Packet(header: header, encoded: writer.bytes)
  }
}
