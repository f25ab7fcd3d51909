import Bytes
import Identities
import Primitives
import Streams
import TestKit
import Testing

@testable import Links

/// The outer seal between two sides, with whoever may stand between them. Names begin with the row of the threat.
@Suite struct LinkSealTests {
  struct Side {
    var seal: LinkSeal
    var card: VerifiedCard
  }

  static let wall: UInt64 = 1_767_225_600_000
  let time = ManualTime()

  private func side(
    _ name: String, card stolen: VerifiedCard? = nil, community: UInt8? = nil, random: RandomSource = .system
  ) throws -> Side {
    let keys = try IdentityKeys(generatedFrom: .system, now: Self.wall)
    let card = try keys.makeCard(
      name: try PeerName(name), icon: .none, capabilities: [], sequence: 1, now: Self.wall)
    let key = community.flatMap { CommunityKey(Secret(copying: [UInt8](repeating: $0, count: 32).rawSpan)) }
    let seal = LinkSeal(
      agreement: keys.sharedAgreementKey(), ownCard: Latest(stolen ?? card), communityKey: key, random: random,
      time: time.source)
    return Side(seal: seal, card: card)
  }

  /// Runs a handshake to its end; `change` sees, and may change, every message on the way.
  private func meet(
    _ one: Side, _ other: Side, hellos: ([UInt8], [UInt8]) = ([1], [1]),
    change: (_ number: Int, _ message: inout [UInt8]) -> Void = { _, _ in }
  ) async throws -> (one: EstablishedLink, other: EstablishedLink) {
    let initiator = try one.seal.handshake(role: .initiator, hellos: hellos.0)
    let responder = try other.seal.handshake(role: .responder, hellos: hellos.1)
    var established: (one: EstablishedLink?, other: EstablishedLink?)
    var messages = try await initiator.start().messages
    _ = try await responder.start()
    var isForResponder = true
    var number = 0
    while !messages.isEmpty {
      var next: [[UInt8]] = []
      for var message in messages {
        change(number, &message)
        number += 1
        let progress = try await (isForResponder ? responder : initiator).receive(message)
        next += progress.messages
        if let link = progress.established {
          if isForResponder { established.other = link } else { established.one = link }
        }
      }
      messages = next
      isForResponder.toggle()
    }
    return (try #require(established.one), try #require(established.other))
  }

  @Test func bothSidesLearnTheOthersCardAndFramesFlow() async throws {
    let (alice, bob) = (try side("alice"), try side("bob"))
    let links = try await meet(alice, bob)
    #expect(links.one.card == bob.card && links.other.card == alice.card)
    for size in [0, 1, 37, 483] {
      let content = [UInt8](repeating: 0x42, count: size)
      let frame = try links.one.session.seal(content)
      #expect(frame.count == size + 26 && frame[0] < 0x80)
      #expect(try links.other.session.open(frame) == content)
    }
  }

  @Test func threat01_flippingAnyBitIsRefused() async throws {
    let links = try await meet(try side("alice"), try side("bob"))
    let frame = try links.one.session.seal(Array("canary".utf8))
    for bit in 0..<frame.count * 8 {
      var changed = frame
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: LinkSecurityError.frameRefused, "bit \(bit)") { try links.other.session.open(changed) }
    }
    #expect(try links.other.session.open(frame) == Array("canary".utf8), "refused frames have changed nothing")
  }

  @Test func threat04_keysSwappedInTheHandshakeAreNoticed() async throws {
    for number in 0..<3 {
      var length = 0
      _ = try await meet(try side("alice"), try side("bob")) { if $0 == number { length = $1.count } }
      for index in stride(from: 0, to: length, by: 7) {
        await #expect(throws: LinkSecurityError.self, "message \(number), byte \(index)") {
          _ = try await meet(try side("alice"), try side("bob")) { if $0 == number { $1[index] ^= 0x10 } }
        }
      }
    }
  }

  @Test func threat06_cardOfAnotherIsWorthNothing() async throws {
    let victim = try side("victim")
    await #expect(throws: LinkSecurityError.cardRefused) {
      _ = try await meet(try side("mallory", card: victim.card), try side("bob"))
    }
    await #expect(throws: LinkSecurityError.cardRefused) {
      _ = try await meet(try side("alice"), try side("mallory", card: victim.card))
    }
  }

  @Test func threat06_ownCardComingBackIsRefused() async throws {
    let alice = try side("alice")
    await #expect(throws: LinkSecurityError.ownCard) { _ = try await meet(alice, alice) }
  }

  @Test func threat08_replayedFramesAndThoseOfAnotherLinkAreRefused() async throws {
    let (alice, bob) = (try side("alice"), try side("bob"))
    let (first, second) = (try await meet(alice, bob), try await meet(alice, bob))
    let frames = try (0..<50).map { try first.one.session.seal([UInt8($0)]) }
    for frame in frames { _ = try first.other.session.open(frame) }
    for frame in frames {
      #expect(throws: LinkSecurityError.frameRefused) { try first.other.session.open(frame) }
      #expect(throws: LinkSecurityError.frameRefused) { try second.other.session.open(frame) }
      #expect(throws: LinkSecurityError.frameRefused) { try first.one.session.open(frame) }
    }
  }

  @Test func frameOfAnotherLengthThanItSaysIsRefused() async throws {
    let link = try await meet(try side("alice"), try side("bob"))
    let frame = try link.one.session.seal([1, 2, 3])
    for change in [1, 2, 0x80] as [UInt8] {
      var changed = frame
      changed[1] ^= change
      #expect(throws: LinkSecurityError.frameRefused) { try link.other.session.open(changed) }
    }
    #expect(try link.other.session.open(frame) == [1, 2, 3])
  }

  @Test func threat14_strangerOfAClosedCommunityIsAnsweredNothing() async throws {
    let member = try side("member", community: 7)
    for stranger in [try side("stranger"), try side("other", community: 8)] {
      let knocking = try stranger.seal.handshake(role: .initiator, hellos: [1])
      let answering = try member.seal.handshake(role: .responder, hellos: [1])
      let messages = try await knocking.start().messages
      await #expect(throws: LinkSecurityError.handshakeRefused) { _ = try await answering.receive(messages[0]) }
    }
    _ = try await meet(member, try side("friend", community: 7))
  }

  @Test func threat20_changedHelloIsNoticed() async throws {
    await #expect(throws: LinkSecurityError.handshakeRefused) {
      _ = try await meet(try side("alice"), try side("bob"), hellos: ([1, 0, 1], [1, 0, 2]))
    }
  }

  @Test func threat23_failedRandomnessMakesNoLink() async throws {
    let broken = try side("broken", random: RandomSource { _ in false })
    await #expect(throws: LinkSecurityError.primitiveFailed) { _ = try await meet(broken, try side("bob")) }
    #expect(throws: PrimitiveError.self) {
      _ = try IdentityKeys(generatedFrom: RandomSource { _ in false }, now: Self.wall)
    }
    let (one, other) = (try side("same image"), try side("same image"))
    #expect(one.card.id != other.card.id)
  }

  @Test func keysChangeWithTimeAndSessionsWearOut() async throws {
    let links = try await meet(try side("alice"), try side("bob"))
    let start = time.now
    for quarter in 1...95 {
      let now = start.advanced(by: LinksLimits.keyLifetime * quarter)
      links.one.session.tick(now: now)
      let frame = try links.one.session.seal([1])
      #expect(try links.other.session.open(frame) == [1], "quarter of an hour \(quarter)")
      #expect(!links.one.session.isWornOut)
    }
    links.one.session.tick(now: start.advanced(by: LinksLimits.sessionLifetime))
    #expect(links.one.session.isWornOut)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func threat11_anyBytesAreRefusedAndNeverTrap(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let bytes = (0..<Int.random(in: 0...400, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator)
    }
    let alice = try side("alice")
    let responder = try alice.seal.handshake(role: .responder, hellos: [])
    await #expect(throws: LinkSecurityError.self, "seed \(seed)") { _ = try await responder.receive(bytes) }
    let links = try await meet(alice, try side("bob"))
    #expect(throws: LinkSecurityError.frameRefused, "seed \(seed)") { try links.one.session.open(bytes) }
  }
}
