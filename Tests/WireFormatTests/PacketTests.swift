import Bytes
import Primitives
import Testing
import WireFormat

struct PacketTests {
  @Test func aDraftBecomesThePacketThatIsDecoded() throws {
    for kind: UInt8 in [0, 1, 2, 3, 5, 8, 63, 64, 200, 255] {
      for count in [0, 1, 200, WireLimits.bodyByteCount] {
        let made = try PacketDraft(
          kind: PacketKind(rawValue: kind), timeToLive: 9, time: 77, origin: Tag(rawValue: 1),
          destination: Tag(rawValue: 2), body: [UInt8](repeating: 7, count: count), hints: 0xF7
        ).unsigned()
        let decoded = try Packet(decoding: made.encoded)
        #expect(decoded == made)
        #expect(decoded.body.count == count)
        #expect(decoded.signature == nil)
        #expect(decoded.header.time == 77 && decoded.header.origin.rawValue == 1)
        #expect(decoded.header.destination.rawValue == 2 && decoded.header.flags.rawValue == 0xF0)
        #expect(decoded.header.timeToLive == min(9, PacketKind(rawValue: kind).maximumTimeToLive))
      }
    }
  }

  @Test func aSignedPacketVerifiesUnderItsKeyOnly() throws {
    let signer = try signer.get()
    let made = try draft(.public, body: Array("hello".utf8)).signed(by: signer.sign)
    let decoded = try Packet(decoding: made.encoded)
    #expect(decoded == made)
    #expect(Array(decoded.body) == Array("hello".utf8))
    #expect(decoded.signature?.count == 64)
    try decoded.verifySignature(by: signer.key.publicKey)
    #expect(throws: PrimitiveError.signatureRejected) {
      try decoded.verifySignature(by: SignerBox().key.publicKey)
    }
    #expect(throws: PrimitiveError.wrongLength(expected: 64, found: 0)) {
      try draft().unsigned().verifySignature(by: signer.key.publicKey)
    }
    let relayed = try Packet(decoding: decoded.relayed(addingAge: 9, appending: 4))
    try relayed.verifySignature(by: signer.key.publicKey)
  }

  @Test func everyFlippedBitOfTheIdentifiedRegionBreaksTheSignatureOrTheShape() throws {
    let signer = try signer.get()
    let made = try draft(.public, body: [9, 9]).signed(by: signer.sign)
    for bit in (7 * 8)..<(made.encoded.count * 8) {
      var bent = made.encoded
      bent[bit / 8] ^= 1 << UInt8(bit % 8)
      // A hint is part of what is signed, so no bit is free.
      guard let packet = try? Packet(decoding: bent) else { continue }
      #expect(throws: PrimitiveError.self, "bit \(bit)") { try packet.verifySignature(by: signer.key.publicKey) }
    }
  }

  @Test func aKindThatIsAlwaysSignedIsRefusedWithoutASignature() throws {
    for kind in [PacketKind.public, .urgent, .presence] {
      #expect(throws: WireError.signatureMissing(kind)) { try draft(kind).unsigned() }
      var bytes = try draft(.personal).unsigned().encoded
      bytes[7] = kind.rawValue
      #expect(headerFailure(bytes) == .signatureMissing(kind))
    }
  }

  @Test func theBodyLimitIsExact() throws {
    _ = try draft(body: [UInt8](repeating: 0, count: WireLimits.bodyByteCount))
    #expect(
      throws: WireError.tooLarge(byteCount: WireLimits.bodyByteCount + 1, limit: WireLimits.bodyByteCount)
    ) { try draft(body: [UInt8](repeating: 0, count: WireLimits.bodyByteCount + 1)) }
  }

  @Test func theLargestPacketStillTakesAFullRoute() throws {
    let signer = try signer.get()
    var current = try draft(.public, body: [UInt8](repeating: 0, count: WireLimits.bodyByteCount))
      .signed(by: signer.sign)
    for entry: UInt32 in 1...20 {
      current = try Packet(decoding: current.relayed(addingAge: 1, appending: entry))
    }
    #expect(current.encoded.count == WireLimits.packetByteCount)
    #expect(current.header.isRouteCut && current.route == Array(1...15))
    var over = current.encoded + [0]
    #expect(headerFailure(over) == .tooLarge(byteCount: 32_769, limit: 32_768))
    over =
      try draft(body: [UInt8](repeating: 0, count: WireLimits.bodyByteCount)).unsigned().encoded
      + [UInt8](repeating: 0, count: 65)
    #expect(headerFailure(over) == .tooLarge(byteCount: 32_702, limit: 32_701))
  }

  @Test func relayingChangesOnlyWhatMayChange() throws {
    let made = try draft().unsigned()
    var identifier = try PacketIdentifier()
    let id = try identifier.id(of: made)
    var current = made
    for entry: UInt32 in 1...15 {
      current = try Packet(decoding: current.relayed(addingAge: 100, appending: entry))
      #expect(current.header.routeCount == Int(entry) && !current.header.isRouteCut)
      #expect(current.routeContains(entry) && !current.routeContains(entry + 1))
    }
    #expect(current.header.hops == 15 && current.header.age == 1_500)
    let declined = try Packet(decoding: current.relayed(addingAge: 0, appending: nil))
    #expect(!declined.header.isRouteCut && declined.header.hops == 16)
    current = try Packet(decoding: current.relayed(addingAge: 1, appending: 16))
    #expect(current.header.isRouteCut && current.route == Array(1...15))
    current = try Packet(decoding: current.relayed(addingAge: 1, appending: nil))
    #expect(current.header.isRouteCut)
    let after = try identifier.id(of: current)
    #expect(after == id)
    #expect(current.body == made.body || Array(current.body) == Array(made.body))
  }

  @Test func hopsAndAgeStopAtTheirEnd() throws {
    var bytes = try draft().unsigned().encoded
    bytes[1] = 254
    bytes.replaceSubrange(2..<6, with: [0xFF, 0xFF, 0xFF, 0xF0])
    let once = try Packet(decoding: Packet(decoding: bytes).relayed(addingAge: 15, appending: nil))
    #expect(once.header.hops == 255 && once.header.age == .max)
    let twice = try Packet(decoding: once.relayed(addingAge: 1, appending: nil))
    #expect(twice.header.hops == 255 && twice.header.age == .max)
    #expect(twice.header.remainingHops == 0)
  }

  @Test func remainingHopsAreCappedByTheKind() throws {
    func remaining(_ kind: PacketKind, timeToLive: UInt8, hops: UInt8) throws -> Int {
      var bytes = try draft(.personal).unsigned().encoded
      bytes[1] = hops
      bytes[7] = kind.rawValue
      bytes[9] = timeToLive
      if kind.requiresSignature {
        bytes[8] = 1
        bytes += [UInt8](repeating: 0, count: 64)
      }
      let header = try PacketHeader(decoding: bytes.rawSpan)
      #expect(header.mayCrossAnotherLink == (header.remainingHops >= 2))
      return header.remainingHops
    }
    #expect(try remaining(.personal, timeToLive: 255, hops: 0) == 128)
    #expect(try remaining(.personal, timeToLive: 128, hops: 127) == 1)
    #expect(try remaining(.personal, timeToLive: 128, hops: 128) == 0)
    #expect(try remaining(.personal, timeToLive: 0, hops: 255) == 0)
    #expect(try remaining(.presence, timeToLive: 255, hops: 3) == 5)
    #expect(try remaining(.linkControl, timeToLive: 255, hops: 0) == 1)
    #expect(try remaining(PacketKind(rawValue: 200), timeToLive: 255, hops: 0) == 128)
  }

  @Test func theIDIsTheHashOfTheIdentifiedRegion() throws {
    let made = try packet(byteCount: 200)
    let relayed = try Packet(decoding: made.relayed(addingAge: 5, appending: 9))
    var identifier = try PacketIdentifier()
    let id = try identifier.id(of: relayed)
    let digest = try SHA256.digest(Array("relaychat/packet/1".utf8) + made.encoded[7...])
    #expect(id == PacketID(high: digest.first, low: digest.second))
    #expect(id.key == digest.first)
    #expect(PacketID(hex: id.description) == id)
    #expect(PacketID(hex: "00") == nil && PacketID(hex: String(repeating: "x", count: 32)) == nil)
    #expect(throws: PrimitiveError.wrongLength(expected: 200, found: 3)) {
      var identifier = try PacketIdentifier()
      let other: [UInt8] = [1, 2, 3]
      _ = try identifier.id(of: other.rawSpan, header: made.header)
    }
  }
}
