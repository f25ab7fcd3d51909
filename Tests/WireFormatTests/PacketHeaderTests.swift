import Bytes
import TestKit
import Testing
import WireFormat

struct PacketHeaderTests {
  @Test func everyCutIsRefused() throws {
    let signer = try signer.get()
    let signed = try draft(.public, body: []).signed(by: signer.sign)
    let routed = try Packet(decoding: signed.relayed(addingAge: 1, appending: 5)).encoded
    for length in 0..<routed.count {
      guard case .bytes(let error) = headerFailure(Array(routed.prefix(length))) else {
        Issue.record("length \(length)")
        continue
      }
      #expect(error.needed > error.available)
    }
    #expect(headerFailure(routed) == nil)
    let bare = try draft(body: []).unsigned().encoded
    #expect(bare.count == 32 && headerFailure(bare) == nil)
    #expect(headerFailure(Array(bare.dropLast())) == .bytes(ByteError(needed: 32, available: 31)))
    #expect(headerFailure([]) == .bytes(ByteError(needed: 1, available: 0)))
  }

  @Test func otherVersionsAreRefusedWhateverFollows() {
    for version in (UInt8.min...UInt8.max) where version != 1 {
      #expect(headerFailure([version]) == .unknownVersion(version))
    }
  }

  @Test func theScopeIsOfTheCopyAndNotOfThePacket() throws {
    let packet = try draft().unsigned()
    #expect(packet.header.scope == .everybody)
    for scope in PacketScope.allCases {
      let copy = try Packet(decoding: packet.relayed(addingAge: 3, appending: 7, scope: scope))
      #expect(copy.header.scope == scope && copy.route == [7] && copy.header.hops == 1)
      #expect(copy.encoded[copy.header.identifiedRange] == packet.encoded[packet.header.identifiedRange])
      var bytes = copy.encoded
      Packet.setScope(&bytes, at: 0, to: .everybody)
      #expect(bytes == packet.relayed(addingAge: 3, appending: 7))
    }
    #expect(PacketScope.lane < .lanes && PacketScope.lanes < .everybody)
    var short: [UInt8] = [1, 2]
    Packet.setScope(&short, at: 0, to: .lane)
    #expect(short == [1, 2])
  }

  @Test func reservedRouteBitsAndCriticalFlagsAreRefusedAndHintsAreKept() throws {
    let bytes = try draft().unsigned().encoded
    for bits: UInt8 in 3...7 {
      var bent = bytes
      bent[6] |= bits << 4
      #expect(headerFailure(bent) == .reservedRouteBits(bits << 4))
    }
    for bit: UInt8 in 1...3 {
      var bent = bytes
      bent[8] |= 1 << bit
      #expect(headerFailure(bent) == .criticalFlags(1 << bit))
    }
    for bit: UInt8 in 4...7 {
      var bent = bytes
      bent[8] |= 1 << bit
      let packet = try Packet(decoding: bent)
      #expect(packet.header.flags.rawValue == 1 << bit)
      #expect(try Packet(decoding: packet.relayed(addingAge: 0, appending: nil)).header.flags.rawValue == 1 << bit)
    }
  }

  @Test func anyBytesGiveAHeaderOrAnErrorAndNothingTraps() throws {
    let seed: UInt64 = 0x5EED
    var generator = SeededGenerator(seed: seed)
    let valid = try packet(byteCount: 200).relayed(addingAge: 3, appending: 7)
    var accepted = 0
    for round in 0..<20_000 {
      var bytes = round.isMultiple(of: 2) ? valid : generator.bytes(Int.random(in: 0...120, using: &generator))
      if !bytes.isEmpty { bytes[0] = 1 }
      for _ in 0..<3 where !bytes.isEmpty {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
      }
      guard let packet = try? Packet(decoding: bytes) else { continue }
      accepted += 1
      let header = packet.header
      #expect(header.bodyRange.lowerBound <= header.bodyRange.upperBound, "seed \(seed) round \(round)")
      #expect(packet.route.count == header.routeCount && packet.body.count == header.bodyRange.count)
      let relayed = try Packet(decoding: packet.relayed(addingAge: .max, appending: .max))
      #expect(Array(relayed.encoded[relayed.header.identifiedRange]) == Array(bytes[header.identifiedRange]))
    }
    #expect(accepted > 1_000)
  }
}

struct PacketKindTests {
  @Test func everyNumberHasItsRangeAndItsLimits() {
    for value in UInt8.min...UInt8.max {
      let kind = PacketKind(rawValue: value)
      let range: PacketKind.Range =
        value < 8 ? .known : value < 64 ? .future : value < 128 ? .application : value < 192 ? .experimental : .reserved
      #expect(kind.range == range)
      if range != .known {
        #expect(kind.maximumTimeToLive == 128 && kind.lifetime == 6 * 3_600_000)
        #expect(kind.trafficClass == .bulk && !kind.carriesRoute && !kind.requiresSignature)
      }
    }
  }

  @Test func theTableOfKindsHolds() {
    let hour: UInt64 = 3_600_000
    let table: [(PacketKind, UInt8, UInt64, TrafficClass, Bool, Bool)] = [
      (.linkControl, 1, 0, .control, false, false),
      (.personal, 128, 48 * hour, .personal, true, false),
      (.receipt, 128, 48 * hour, .personal, true, false),
      (.room, 128, 48 * hour, .public, false, false),
      (.public, 128, 6 * hour, .public, true, true),
      (.card, 128, 48 * hour, .bulk, false, false),
      (.urgent, 128, hour, .control, true, true),
      (.presence, 8, 600_000, .bulk, false, true),
    ]
    for (number, row) in table.enumerated() {
      #expect(row.0.rawValue == UInt8(number))
      #expect(row.0.maximumTimeToLive == row.1 && row.0.lifetime == row.2 && row.0.trafficClass == row.3)
      #expect(row.0.carriesRoute == row.4 && row.0.requiresSignature == row.5)
    }
    #expect(TrafficClass.allCases.sorted() == [.control, .personal, .public, .bulk])
  }
}
