import Bytes
import Identities
import Primitives
import TestKit
import Testing

struct CardTests {
  private func failure(_ bytes: [UInt8]) -> CardError? {
    do throws(CardError) { _ = try VerifiedCard(verifying: bytes.rawSpan) } catch { return error }
    return nil
  }

  @Test func aCardComesBackByteForByte() throws {
    let keys = try makeKeys()
    for (name, icon) in [("A", ""), ("Ada", "🦊"), (String(repeating: "é", count: 16), "👨‍👩‍👧‍👦")] {
      let own = try makeCard(
        keys, name: name, icon: icon, capabilities: [.bot, .init(rawValue: 1 << 31)], sequence: .max)
      let bytes = own.encoded
      let card = try Card(decoding: bytes.rawSpan)
      #expect(card.encoded == bytes)
      #expect(Card.byteCounts.contains(bytes.count))
      let verified = try VerifiedCard(verifying: bytes.rawSpan)
      #expect(verified == own)
      #expect(verified.id == keys.id)
      #expect(card.name.text == name && card.icon.text == icon)
      #expect(card.capabilities.contains(.bot) && card.capabilities.rawValue == 1 << 31 | 1)
      #expect(card.sequence == .max && card.issued == start)
      #expect(card.prekey == keys.currentPrekey && card.prekey.sealUntil == start + 48 * hour)
    }
  }

  @Test func theSmallestAndTheLargestCardHaveTheirSize() throws {
    let keys = try makeKeys()
    #expect(try makeCard(keys, name: "A", icon: "").encoded.count == Card.byteCounts.lowerBound)
    #expect(Card.byteCounts == 196...259)
  }

  @Test func everyFlippedBitIsRefused() throws {
    let keys = try makeKeys()
    let bytes = try makeCard(keys).encoded
    for index in bytes.indices {
      for bit in [0, 3, 7] {
        var bent = bytes
        bent[index] ^= 1 << UInt8(bit)
        #expect(failure(bent) != nil, "byte \(index) bit \(bit)")
      }
    }
  }

  @Test func everyCutAndEveryTailIsRefused() throws {
    let keys = try makeKeys()
    let bytes = try makeCard(keys).encoded
    for length in bytes.indices { #expect(failure(Array(bytes.prefix(length))) != nil) }
    #expect(failure(bytes + [0]) == .bytes(ByteError(needed: 0, available: 1)))
  }

  @Test func theSignatureOfAnotherIsRefused() throws {
    let victim = try makeKeys()
    let attacker = try makeKeys()
    let card = try makeCard(victim)
    let body = Array(card.encoded.dropLast(64))
    let forged = try body + attacker.sign(.card, body.rawSpan)
    #expect(failure(forged) == .signature(.signatureRejected))
    let wrongLabel = try body + victim.sign(.packetSignature, body.rawSpan)
    #expect(failure(wrongLabel) == .signature(.signatureRejected))
  }

  @Test func signedNonsenseIsRefusedForWhatItIs() throws {
    let keys = try makeKeys()
    let body = Array(try makeCard(keys, name: "Ada", icon: "🦊").encoded.dropLast(64))
    func signed(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
      var copy = body
      change(&copy)
      return try copy + keys.sign(.card, copy.rawSpan)
    }
    #expect(failure(try signed { $0[0] = 2 }) == .unknownVersion(2))
    #expect(failure(try signed { $0[1] = 0 }) == .unknownSuite(0))
    #expect(failure(try signed { $0[2] = 4 }) == .key(.notOnCurve))
    #expect(failure(try signed { $0[35] = 0 }) == .key(.notOnCurve))
    #expect(failure(try signed { $0[86] = 0 }) == .key(.notOnCurve))
    #expect(failure(try signed { $0[130] = 0xFF }) == .notUnicode)
    #expect(failure(try signed { $0[130] = 0x07 }) == .name(.forbidden(scalar: 7)))
    #expect(failure(try signed { $0[130] = 0x20 }) == .name(.surroundingWhiteSpace))
    #expect(failure(try signed { $0.replaceSubrange(134..<138, with: Array("abcd".utf8)) }) == .icon(.notOneEmoji))
    #expect(failure(try signed { $0.replaceSubrange(129..<133, with: [0]) }) == .name(.empty))
    let long = [33] + [UInt8](repeating: UInt8(ascii: "x"), count: 33)
    #expect(
      failure(try signed { $0.replaceSubrange(129..<133, with: long) }) == .name(.tooLong(byteCount: 33, limit: 32)))
  }

  @Test func anyBytesGiveACardOrAnError() throws {
    let keys = try makeKeys()
    let bytes = try makeCard(keys).encoded
    let seed: UInt64 = 99
    var generator = SeededGenerator(seed: seed)
    for round in 0..<2_000 {
      var bent = round.isMultiple(of: 2) ? bytes : (0..<Int.random(in: 0...300, using: &generator)).map { _ in 1 }
      for _ in 0..<Int.random(in: 1...4, using: &generator) where !bent.isEmpty {
        bent[Int.random(in: bent.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
      }
      if let card = try? Card(decoding: bent.rawSpan) {
        #expect(card.encoded == bent, "seed \(seed) round \(round)")
      }
    }
  }
}
