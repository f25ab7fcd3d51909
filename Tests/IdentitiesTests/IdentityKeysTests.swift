import Bytes
import Identities
import Primitives
import Testing

struct IdentityKeysTests {
  @Test func aPrekeyIsMadeEveryDayAndErasedAfterThree() throws {
    var keys = try makeKeys()
    #expect(keys.prekeyIDs == [1])
    let early = try keys.rotateIfDue(now: start + 24 * hour - 1)
    #expect(!early)
    for day: UInt64 in 1...5 {
      let rotated = try keys.rotateIfDue(now: start + day * 24 * hour)
      #expect(rotated)
      let again = try keys.rotateIfDue(now: start + day * 24 * hour + 1)
      #expect(!again)
      #expect(keys.currentPrekey.id == UInt32(day + 1))
      #expect(keys.currentPrekey.sealUntil == start + day * 24 * hour + 48 * hour)
    }
    #expect(keys.prekeyIDs == [4, 5, 6])
    #expect(keys.prekey(id: 3) == nil)
    #expect(keys.prekey(id: 4)?.id == 4)
  }

  @Test func erasureIsExact() throws {
    var keys = try makeKeys()
    _ = try keys.rotateIfDue(now: start + 30 * hour)
    _ = try keys.rotateIfDue(now: start + 72 * hour - 1)
    #expect(keys.prekey(id: 1) != nil)
    _ = try keys.rotateIfDue(now: start + 72 * hour)
    #expect(keys.prekey(id: 1) == nil)
  }

  @Test func aClockThatWentBackKeepsNoKeyLongerThanPromised() throws {
    var keys = try makeKeys(now: start + 10_000 * hour)
    let first = try keys.rotateIfDue(now: start)
    #expect(!first)
    let second = try keys.rotateIfDue(now: start + 24 * hour)
    #expect(second)
    _ = try keys.rotateIfDue(now: start + 72 * hour)
    #expect(keys.prekey(id: 1) == nil)
  }

  @Test func aClockThatJumpsKeepsABoundedNumber() throws {
    var keys = try makeKeys(now: 0)
    for round: UInt64 in 1...40 {
      _ = try keys.rotateIfDue(now: round.isMultiple(of: 2) ? 0 : 24 * hour)
      #expect(keys.prekeyIDs.count <= IdentitiesLimits.prekeyCount)
    }
    _ = try keys.rotateIfDue(now: .max)
    #expect(keys.prekeyIDs.count == 1)
    let card = try makeCard(keys, now: .max)
    #expect((try? VerifiedCard(verifying: card.encoded.rawSpan)) == card)
  }

  @Test func exportedKeysComeBack() throws {
    var keys = try makeKeys()
    _ = try keys.rotateIfDue(now: start + 24 * hour)
    let secret = try keys.export()
    var copy = try secret.withBytes { try IdentityKeys(importing: $0, random: .system) }
    #expect(copy.id == keys.id)
    #expect(copy.prekeyIDs == [1, 2])
    #expect(copy.currentPrekey == keys.currentPrekey)
    #expect(copy.agreementKey == keys.agreementKey)
    let again = try copy.export()
    let same = again.bytes.hasSameBytes(as: secret.bytes)
    #expect(same)
    _ = try copy.rotateIfDue(now: start + 48 * hour)
    #expect(copy.prekeyIDs == [1, 2, 3])
    let card = try makeCard(copy)
    #expect(card.id == keys.id)
  }

  @Test func anyStoredBytesGiveKeysOrAnError() throws {
    let keys = try makeKeys()
    let secret = try keys.export()
    let bytes = secret.withBytes { [UInt8](copying: $0) }
    #expect(bytes.count == 71 + 48)
    func failure(_ bytes: [UInt8]) -> IdentityKeysError? {
      do throws(IdentityKeysError) { _ = try IdentityKeys(importing: bytes.rawSpan, random: .system) } catch {
        return error
      }
      return nil
    }
    #expect(failure(bytes) == nil)
    for length in bytes.indices { #expect(failure(Array(bytes.prefix(length))) != nil) }
    #expect(failure(bytes + [0]) == .bytes(ByteError(needed: 119, available: 120)))
    func changed(_ index: Int, _ value: UInt8) -> [UInt8] {
      var copy = bytes
      copy[index] = value
      return copy
    }
    #expect(failure(changed(0, 9)) == .unknownVersion(9))
    #expect(failure(changed(1, 9)) == .unknownSuite(9))
    #expect(failure(changed(70, 0)) == .prekeyCount(0))
    #expect(failure(bytes[..<70] + [9] + Array(repeating: bytes[71...], count: 9).joined()) == .prekeyCount(9))
    var zero = bytes
    for index in 2..<34 { zero[index] = 0 }
    #expect(failure(zero) == .key(.scalarOutOfRange))
  }

  @Test func aSourceThatFailsMakesNoIdentity() {
    let broken = RandomSource { _ in false }
    #expect(throws: PrimitiveError.noRandomness) { _ = try IdentityKeys(generatedFrom: broken, now: 0) }
  }
}
