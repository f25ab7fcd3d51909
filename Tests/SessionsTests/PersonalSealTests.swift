import Bytes
import Identities
import Primitives
import TestKit
import Testing

@testable import Sessions

@Suite struct PersonalSealTests {
  static let wall: UInt64 = 1_767_225_600_000

  private func keys() throws -> IdentityKeys { try IdentityKeys(generatedFrom: .system, now: Self.wall) }

  private func seal(
    _ content: [UInt8], from sender: borrowing IdentityKeys, to recipient: borrowing IdentityKeys
  ) throws -> [UInt8] {
    try PersonalSeal.seal(
      content, from: sender.id, key: sender.sharedAgreementKey(), to: recipient.id, prekey: recipient.currentPrekey,
      time: Self.wall, random: .system)
  }

  private func open(
    _ body: [UInt8], as recipient: borrowing IdentityKeys, time: UInt64 = wall
  ) throws -> PersonalSeal.Opened {
    let id = recipient.currentPrekey.id
    let prekey = recipient.prekey(id: id)
    return try PersonalSeal.open(body, as: recipient.id, time: time, random: .system) { $0 == id ? prekey : nil }
  }

  @Test(arguments: [1, 13, 14, 15, 78, 79, 95, 96, 500, 4_096, 30_000])
  func whatIsSealedIsOpenedByTheRecipientAndNamesItsSender(byteCount: Int) throws {
    let alice = try keys()
    let bob = try keys()
    var generator = SeededGenerator(seed: UInt64(byteCount))
    let content = (0..<byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let opened = try open(try seal(content, from: alice, to: bob), as: bob)
    #expect(opened.content == content && opened.sender == alice.id && opened.key == alice.agreementKey)
  }

  @Test func nobodyElseOpensIt() throws {
    let alice = try keys()
    let bob = try keys()
    let eve = try keys()
    let body = try seal([1, 2, 3], from: alice, to: bob)
    #expect(throws: PersonalSealError.refused) { try open(body, as: eve) }
    #expect(throws: PersonalSealError.refused) { try open(body, as: alice) }
    #expect(throws: PersonalSealError.refused) { try open(body, as: bob, time: Self.wall + 1) }
    #expect(throws: PersonalSealError.prekeyGone(1)) {
      try PersonalSeal.open(body, as: bob.id, time: Self.wall, random: .system) { _ in nil }
    }
  }

  @Test func threat02_everyChangedByteIsRefused() throws {
    let alice = try keys()
    let bob = try keys()
    let body = try seal([1, 2, 3], from: alice, to: bob)
    for index in body.indices {
      var changed = body
      changed[index] ^= 1
      #expect(throws: PersonalSealError.self, "byte \(index)") { try open(changed, as: bob) }
    }
    for count in 0..<body.count { #expect(throws: PersonalSealError.self) { try open(Array(body[..<count]), as: bob) } }
  }

  @Test func threat10_equalMessagesLookDifferentAndSizesAreBuckets() throws {
    let alice = try keys()
    let bob = try keys()
    var sizes: Set<Int> = []
    for length in 1...200 {
      let content = [UInt8](repeating: 0x61, count: 17) + [UInt8](repeating: UInt8(length), count: length)
      let (one, other) = (try seal(content, from: alice, to: bob), try seal(content, from: alice, to: bob))
      #expect(one != other && one.count == other.count)
      sizes.insert(one.count)
    }
    #expect(sizes.count <= 3, "two hundred lengths show as \(sizes.sorted())")
  }

  @Test func threat10_guessesBesideASecretAllHaveOneSize() throws {
    let alice = try keys()
    let bob = try keys()
    let secret = "the door code is 4711-0815 and nobody else may know it; "
    let sizes = try Set(
      (0...255).map { guess in
        let text = secret + "you said: the door code is " + String(guess, radix: 16) + String(repeating: "x", count: 60)
        return try seal(Array(text.utf8), from: alice, to: bob).count
      })
    #expect(sizes.count == 1, "256 guesses show as \(sizes.sorted())")
  }

  @Test(arguments: [101, 102, 103] as [UInt64])
  func threat10_sizesOnTheAirAreBucketsAndTheSealsOwn(seed: UInt64) throws {
    let alice = try keys()
    let bob = try keys()
    var generator = SeededGenerator(seed: seed)
    let buckets = Set([32, 96, 224, 480, 992] + (2...32).map { 1_024 * $0 - 32 })
    // Form and prekey ID, then ephemeral key, sealed static key, and the tag of the payload.
    let own = 5 + 65 + 65 + 16 + 16
    for _ in 0..<150 {
      let content = (0..<Int.random(in: 1...5_000, using: &generator)).map { _ in
        UInt8.random(in: 0...255, using: &generator)
      }
      let size = try seal(content, from: alice, to: bob).count
      #expect(buckets.contains(size - own), "seed \(seed): \(content.count) bytes show as \(size)")
    }
  }

  @Test func whatDoesNotFitOneSealIsRefusedWithAReason() throws {
    let alice = try keys()
    let bob = try keys()
    let noise = try RandomSource.system.bytes(32_760)
    #expect(throws: PersonalSealError.tooLong) { try seal(noise, from: alice, to: bob) }
  }
}
