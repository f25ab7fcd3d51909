import Identities
import Primitives
import Streams
import Testing
import WireFormat

@testable import Sessions

@Suite struct PeerDirectoryTests {
  let now = MonotonicTime(nanoseconds: 1_000_000_000_000)
  let ada: VerifiedCard
  let own = PeerID(high: 0, low: 0)

  init() throws { ada = try Self.card("Ada") }

  static func card(_ name: String) throws -> VerifiedCard {
    try card(IdentityKeys(generatedFrom: .system, now: 1_800_000_000_000), name, sequence: 1)
  }

  static func card(_ keys: borrowing IdentityKeys, _ name: String, sequence: UInt64) throws -> VerifiedCard {
    try keys.makeCard(
      name: PeerName(name), icon: .none, capabilities: [], sequence: sequence, now: 1_800_000_000_000)
  }

  func after(_ duration: Duration) -> MonotonicTime { now.advanced(by: duration) }

  @Test func aPeerAppearsOnceWhenItIsFirstHeard() {
    var directory = PeerDirectory(ownID: own)
    let (news, changes) = directory.receive(ada, now: now)
    #expect(news == .keep && changes.isEmpty)
    let first = directory.heard(ada.id, hops: 3, now: now)
    #expect(first.map(\.kind) == [.appeared] && first.first?.name == "Ada")
    let second = directory.heard(ada.id, hops: 2, now: now)
    #expect(second.isEmpty && directory.entry(of: ada.id)?.hops == 2)
    let stranger = directory.heard(PeerID(high: 9, low: 9), hops: 1, now: now)
    #expect(stranger.isEmpty)
  }

  @Test func ourOwnCardIsNoPeer() {
    var directory = PeerDirectory(ownID: ada.id)
    let (news, _) = directory.receive(ada, now: now)
    #expect(news == .known && directory.cards.isEmpty)
  }

  @Test func aPeerNotHeardForLongIsSilentToTheMoment() {
    var directory = PeerDirectory(ownID: own)
    _ = directory.receive(ada, now: now)
    _ = directory.heard(ada.id, hops: 2, now: now)
    let deadline = after(SessionsLimits.silentAfter)
    #expect(directory.deadline == deadline)
    let early = directory.expire(now: MonotonicTime(nanoseconds: deadline.nanoseconds - 1))
    let due = directory.expire(now: deadline)
    let again = directory.expire(now: deadline)
    #expect(early.isEmpty && due.map(\.kind) == [.silent] && again.isEmpty && directory.deadline == nil)
  }

  @Test func aReturnIsSaidOnlyAfterARealSilence() {
    for (silence, isSaid) in [
      (SessionsLimits.returnHysteresis - .nanoseconds(1), false), (SessionsLimits.returnHysteresis, true),
    ] {
      var directory = PeerDirectory(ownID: own)
      _ = directory.receive(ada, now: now)
      _ = directory.heard(ada.id, hops: 2, now: now)
      let end = after(SessionsLimits.silentAfter)
      _ = directory.expire(now: end)
      let back = directory.heard(ada.id, hops: 2, now: end.advanced(by: silence))
      #expect(back.map(\.kind) == (isSaid ? [.returned] : []))
      #expect(directory.entry(of: ada.id)?.isPresent == true)
    }
  }

  @Test func aNeighbourIsNeverSilentAndGetsAGraceWhenItsLinkGoes() {
    var directory = PeerDirectory(ownID: own)
    _ = directory.receive(ada, now: now)
    let up = directory.neighbourUp(ada.id, now: now)
    #expect(up.map(\.kind) == [.appeared] && directory.deadline == nil)
    let idle = directory.expire(now: after(.seconds(1_000_000)))
    #expect(idle.isEmpty)
    directory.neighbourDown(ada.id, now: now)
    #expect(directory.deadline == after(SessionsLimits.neighbourGrace))
    let heard = directory.heard(ada.id, hops: 4, now: after(.seconds(10)))
    #expect(heard.isEmpty && directory.deadline == after(.seconds(10) + SessionsLimits.silentAfter))
  }

  @Test func aPeerKeptFromBeforeReturnsInsteadOfAppearing() {
    var directory = PeerDirectory(ownID: own)
    directory.restore(ada)
    #expect(directory.entry(of: ada.id)?.isPresent == false)
    let heard = directory.heard(ada.id, hops: 1, now: now)
    #expect(heard.map(\.kind) == [.returned])
  }

  @Test func aNewerCardRenamesAndAnOlderOneDoesNot() throws {
    let keys = try IdentityKeys(generatedFrom: .system, now: 1_800_000_000_000)
    let cards = try (1...3).map { try Self.card(keys, $0 == 3 ? "Augusta" : "Ada", sequence: UInt64($0)) }
    var directory = PeerDirectory(ownID: own)
    let first = directory.receive(cards[1], now: now)
    let older = directory.receive(cards[0], now: now)
    let same = directory.receive(cards[1], now: now)
    let renamed = directory.receive(cards[2], now: now)
    let forged = directory.receive(try Self.card(keys, "Eve", sequence: 3), now: now)
    #expect(first.news == .keep && older.news == .known && same.news == .known)
    #expect(renamed.news == .keep && renamed.changes.map(\.kind) == [.renamed])
    #expect(forged.news == .equivocation && forged.changes.map(\.kind) == [.equivocated])
    #expect(directory.card(of: keys.id) == cards[2])
  }
}

@Suite struct HeldPacketsTests {
  let now = MonotonicTime(nanoseconds: 1_000_000_000)

  func packet(_ origin: UInt64, byteCount: Int = 100) throws -> Packet {
    try PacketDraft(
      kind: .personal, time: 0, origin: Tag(rawValue: origin), body: [UInt8](repeating: 0, count: byteCount - 32)
    ).unsigned()
  }

  @Test func whatAPeerWroteComesOutInOrder() throws {
    var held = HeldPackets()
    for number: UInt64 in 0..<6 {
      held.hold(try packet(number % 2), id: PacketID(high: number, low: 0), receivedAt: now)
    }
    #expect(held.take(origin: Tag(rawValue: 1)).map(\.id.high) == [1, 3, 5])
    #expect(held.count == 3 && held.dropped == 0)
    #expect(held.take(origin: Tag(rawValue: 1)).isEmpty)
  }

  @Test func theOldestGoByNumberBytesAndTime() throws {
    var held = HeldPackets()
    for number in 0...SessionsLimits.heldPackets {
      held.hold(try packet(1), id: PacketID(high: UInt64(number), low: 0), receivedAt: now)
    }
    #expect(held.count == SessionsLimits.heldPackets && held.dropped == 1)
    held.expire(now: MonotonicTime(nanoseconds: now.advanced(by: SessionsLimits.heldFor).nanoseconds - 1))
    #expect(held.count == SessionsLimits.heldPackets)
    #expect(held.deadline == now.advanced(by: SessionsLimits.heldFor))
    held.expire(now: now.advanced(by: SessionsLimits.heldFor))
    #expect(held.count == 0 && held.deadline == nil)
    for number in 0..<12 {
      held.hold(try packet(1, byteCount: 32_000), id: PacketID(high: UInt64(number), low: 1), receivedAt: now)
    }
    #expect(held.count == SessionsLimits.heldBytes / 32_000)
  }
}

@Suite struct PingLedgerTests {
  let now = MonotonicTime(nanoseconds: 1_000_000_000)
  let ada = PeerID(high: 1, low: 1)
  let bob = PeerID(high: 2, low: 2)

  @Test func onlyThePeerThatWasAskedAnswersAndOnce() {
    var ledger = PingLedger()
    let isSent = ledger.sent(7, to: ada, now: now)
    let later = now.advanced(by: .milliseconds(40))
    let answers = [
      ledger.answered(7, by: bob, now: later), ledger.answered(8, by: ada, now: later),
      ledger.answered(7, by: ada, now: later), ledger.answered(7, by: ada, now: later),
    ]
    #expect(isSent && answers == [nil, nil, .milliseconds(40), nil])
  }

  @Test func pingsUnderWayAreBounded() {
    var ledger = PingLedger()
    for token in 0..<UInt64(SessionsLimits.pings) { _ = ledger.sent(token, to: ada, now: now) }
    let tooMany = ledger.sent(1_000, to: ada, now: now)
    ledger.forget(0)
    let again = ledger.sent(1_000, to: ada, now: now)
    #expect(!tooMany && again)
  }

  @Test func aPeerGetsABurstOfAnswersAndThenOneASecond() {
    var ledger = PingLedger()
    func burst(_ time: MonotonicTime) -> Int { (0..<20).count { _ in ledger.mayAnswer(ada, now: time) } }
    #expect(burst(now) == SessionsLimits.pongBurst)
    #expect(burst(now.advanced(by: .milliseconds(999))) == 0)
    #expect(burst(now.advanced(by: .milliseconds(1_000))) == 1)
    #expect(burst(now.advanced(by: .seconds(4))) == 3)
    #expect(burst(now.advanced(by: .seconds(1_000_000))) == SessionsLimits.pongBurst)
    let other = ledger.mayAnswer(bob, now: now)
    #expect(other)
  }

  @Test func askingOftenDoesNotCostAPeerItsAnswers() {
    var ledger = PingLedger()
    while ledger.mayAnswer(ada, now: now) {}
    // Ten times a second for ten seconds: ten answers are earned.
    let answers = (1...100).count { ledger.mayAnswer(ada, now: now.advanced(by: .milliseconds(100 * $0))) }
    #expect(answers == 10)
    var uneven = PingLedger()
    while uneven.mayAnswer(ada, now: now) {}
    let unevenAnswers = (1...10).count { uneven.mayAnswer(ada, now: now.advanced(by: .milliseconds(1_500 * $0))) }
    #expect(unevenAnswers == 10)
  }
}
