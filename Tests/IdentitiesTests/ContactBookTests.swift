import TestKit
import Testing

@testable import Identities

@Suite struct ContactBookTests {
  private let bob = PeerID(high: 1, low: 1)
  private let mallory = PeerID(high: 2, low: 2)

  private func makeBook() throws -> ContactBook {
    var book = ContactBook()
    let name = try PeerName("bob")
    _ = book.meet(bob, name: name, isAddressed: true)
    return book
  }

  @Test func strangerWithAFriendsNameStopsSendingUntilSettled() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    let observed = book.observe(mallory, name: name)
    let changed = try #require(observed)
    #expect(changed.peer == bob && changed.rival == mallory && changed.state == .changed)
    #expect(
      book.mayReach(bob, name: name) == .changed(changed) && book.mayReach(mallory, name: name) == .changed(changed))
    let again = book.observe(mallory, name: name)
    #expect(again == nil, "it is said once")

    _ = book.trust(bob, name: name, isVerified: false)
    #expect(book.mayReach(bob, name: name) == .fine && book[bob]?.state == .seen)
    let later = book.observe(mallory, name: name)
    #expect(later == nil, "what is settled stays settled")
  }

  @Test func newKeyOfAFriendIsTakenByOneCall() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    _ = book.observe(mallory, name: name)
    let kept = book.trust(mallory, name: name, isVerified: true)
    #expect(kept.map(\.peer) == [mallory, bob])
    #expect(book[mallory]?.state == .verified && book[bob]?.state == .seen && book[bob]?.rival == nil)
    #expect(book.mayReach(mallory, name: name) == .fine && book.mayReach(bob, name: name) == .fine)
    let again = book.observe(bob, name: name)
    #expect(again == nil)
  }

  @Test func whatIsSettledHoldsAfterARestart() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    _ = book.observe(mallory, name: name)
    _ = book.trust(bob, name: name, isVerified: false)
    var restored = ContactBook(book.all)
    let again = restored.observe(mallory, name: name)
    #expect(again == nil && restored.meant(by: name) == bob)
    #expect(restored.mayReach(bob, name: name) == .fine)
  }

  @Test func trustDoesNotUnblock() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    _ = book.setBlocked(true, bob, name: name)
    _ = book.trust(bob, name: name, isVerified: true)
    #expect(book.mayReach(bob, name: name) == .blocked)
  }

  @Test func verifiedFriendStaysReachable() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    _ = book.trust(bob, name: name, isVerified: true)
    let observed = book.observe(mallory, name: name)
    let contact = try #require(observed)
    #expect(contact.state == .verified && contact.rival == mallory)
    #expect(book.mayReach(bob, name: name) == .fine && book.mayReach(mallory, name: name) == .changed(contact))
  }

  /// A contact that calls itself as another does is no better than a stranger, and whoever is told is told once.
  @Test func aContactThatTakesAnothersNameContestsIt() throws {
    var book = try makeBook()
    let (bobs, mallorys) = (try PeerName("bob"), try PeerName("mallory"))
    _ = book.meet(mallory, name: mallorys, isAddressed: true)
    let renamed = book.rename(mallory, to: bobs)
    #expect(renamed == nil && book[mallory]?.name == mallorys)
    let observed = book.observe(mallory, name: bobs)
    let contest = try #require(observed)
    #expect(contest.peer == bob && contest.rivals == [mallory] && contest.state == .changed)
    let again = book.observe(mallory, name: bobs)
    #expect(again == nil, "it is said once")
    #expect(book.mayReach(bob, name: bobs) == .changed(contest))
    #expect(book.mayReach(mallory, name: bobs) == .changed(contest), "by its ID neither")

    _ = book.trust(bob, name: bobs, isVerified: false, bearers: [bob: bobs, mallory: bobs])
    #expect(book.meant(by: bobs) == bob && book[mallory]?.name == bobs && book[mallory]?.isMeant == false)
    #expect(book.mayReach(bob, name: bobs) == .fine && book.mayReach(mallory, name: bobs) == .fine)
    let settled = book.observe(mallory, name: bobs)
    #expect(settled == nil, "what is settled stays settled")
    _ = book.rename(mallory, to: mallorys)
    let refused = book.rename(mallory, to: bobs)
    let anew = book.observe(mallory, name: bobs)
    #expect(refused == nil && anew?.rivals == [mallory], "taken again it is news again")
  }

  @Test func aVerifiedContactsNameIsContestedByAContactAndItsKeyIsReached() throws {
    var book = try makeBook()
    let (bobs, mallorys) = (try PeerName("bob"), try PeerName("mallory"))
    _ = book.trust(bob, name: bobs, isVerified: true)
    _ = book.meet(mallory, name: mallorys, isAddressed: false)
    let observed = book.observe(mallory, name: bobs)
    let contest = try #require(observed)
    #expect(contest.state == .verified && book.contest(of: bob, name: bobs) == contest)
    #expect(book.mayReach(bob, name: bobs) == .fine && book.mayReach(mallory, name: bobs) == .changed(contest))
    // Comparing digits says who it is; only a word about the name takes the name over.
    _ = book.trust(mallory, name: bobs, isVerified: true, bearers: [bob: bobs, mallory: bobs])
    #expect(book[mallory]?.name == mallorys && book.contest(of: bob, name: bobs) != nil)
    _ = book.trust(mallory, name: bobs, isVerified: false, bearers: [bob: bobs, mallory: bobs])
    #expect(book.meant(by: bobs) == mallory && book[bob]?.state == .verified && book[bob]?.isMeant == false)
    #expect(book.contest(of: bob, name: bobs) == nil && book.contest(of: mallory, name: bobs) == nil)
  }

  /// Every namesake, and every order in which a contest can come about and end: never is one of two reached unsettled.
  @Test func nobodyIsReachedUnderANameThatTwoBearUnsettled() throws {
    let name = try PeerName("bob")
    for seed: UInt64 in 0..<200 {
      var random = SeededGenerator(seed: seed)
      var book = ContactBook(capacity: 6)
      let peers = (1...4).map { PeerID(high: $0, low: 0) }
      var cards: [PeerID: PeerName] = [:]
      for (index, peer) in peers.enumerated() { cards[peer] = try PeerName("n\(index)") }
      var meant: Set<PeerID> = []
      for step in 0..<40 {
        let peer = peers[Int(random.next() % 4)]
        switch random.next() % 6 {
        case 0: _ = book.meet(peer, name: cards[peer]!, isAddressed: book.mayReach(peer, name: cards[peer]) == .fine)
        case 1, 2:
          cards[peer] = random.next() % 2 == 0 ? name : try PeerName("n\(peer.high - 1)")
          meant = []
          _ = book.rename(peer, to: cards[peer]!)
          _ = book.observe(peer, name: cards[peer]!)
          for other in peers where other != peer { _ = book.observe(other, name: cards[other]!) }
        case 3:
          _ = book.trust(peer, name: cards[peer]!, isVerified: false, bearers: cards.filter { $0.value == cards[peer] })
          if cards[peer] == name { meant = [peer] }
        case 4: _ = book.mayReach(peer, name: cards[peer])
        default: book = ContactBook(book.all, capacity: 6)
        }
        let bearers = peers.filter { cards[$0] == name && book[$0] != nil }
        let named = book.named(name)
        guard meant.isEmpty, bearers.count > 1, !named.isEmpty, named.allSatisfy({ !$0.isMeant }) else { continue }
        let reached = bearers.filter { book.mayReach($0, name: name) == .fine }
        #expect(reached.isEmpty, "seed \(seed), step \(step): \(reached)")
      }
    }
  }

  @Test func namesAreComparedUnderCanonicalEquivalence() throws {
    var book = ContactBook()
    _ = book.meet(bob, name: try PeerName("Zo\u{EB}"), isAddressed: true)
    let observed = book.observe(mallory, name: try PeerName("Zoe\u{308}"))
    #expect(observed != nil)
  }

  @Test func blockedIsNotReachedAndDoesNotDisturb() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    let blocked = book.setBlocked(true, mallory, name: name)
    #expect(blocked?.isBlocked == true)
    #expect(book.mayReach(mallory, name: name) == .blocked && book.blocked == [mallory])
    let observed = book.observe(mallory, name: name)
    let freed = book.setBlocked(false, mallory, name: name)
    #expect(observed == nil && freed?.isBlocked == false && book.blocked.isEmpty)
  }

  /// Ten strangers, one contact: none of them is reached, known as a rival or not.
  @Test func everyFurtherStrangerWithTheNameIsRefusedUntilSettled() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    let strangers = (10..<20).map { PeerID(high: $0, low: 0) }
    let last = PeerID(high: 99, low: 0)
    for stranger in strangers {
      let observed = book.observe(stranger, name: try PeerName("B\u{43E}b"))
      #expect(observed?.rival == stranger)
    }
    for stranger in strangers + [last] {
      guard case .changed(let contact) = book.mayReach(stranger, name: name) else {
        Issue.record("\(stranger) is reached")
        continue
      }
      #expect(contact.peer == bob && contact.rival == stranger)
      let met = book.meet(stranger, name: name, isAddressed: false)
      #expect(met == nil, "writing to us makes no contact of it")
    }
    #expect(book[bob]?.rivals.count == IdentitiesLimits.rivalCount)
    _ = book.trust(bob, name: name, isVerified: true)
    #expect(book.mayReach(bob, name: name) == .fine)
    #expect(book.mayReach(last, name: name) != .fine, "whoever was not settled bears the name still")
    let another = book.observe(last, name: name)
    #expect(another?.state == .verified && book.mayReach(bob, name: name) == .fine)
  }

  @Test func aContactIsFollowedToANewNameUnlessItIsAnothers() throws {
    var book = try makeBook()
    _ = book.meet(mallory, name: try PeerName("mallory"), isAddressed: false)
    let taken = book.rename(mallory, to: try PeerName("BOB"))
    #expect(taken == nil && book[mallory]?.name.text == "mallory")
    let renamed = book.rename(bob, to: try PeerName("robert"))
    #expect(renamed?.name.text == "robert" && book[bob]?.name.text == "robert")
    let (old, new) = (try PeerName("bob"), try PeerName("robert"))
    #expect(book.named(old).isEmpty && book.named(new).map(\.peer) == [bob])
    let observed = book.observe(PeerID(high: 5, low: 5), name: try PeerName("robert"))
    #expect(observed?.peer == bob)
  }

  @Test func whoWeHaveSettledOrWrittenToNeverMakesRoom() throws {
    var book = ContactBook(capacity: 4)
    let people = (1...4).map { PeerID(high: $0, low: 0) }
    let names = try (1...4).map { try PeerName("n\($0)") }
    _ = book.meet(people[0], name: names[0], isAddressed: true)
    _ = book.trust(people[1], name: names[1], isVerified: false)
    _ = book.setBlocked(true, people[2], name: names[2])
    _ = book.meet(people[3], name: names[3], isAddressed: false)
    _ = book.observe(PeerID(high: 50, low: 0), name: names[0])
    for number: UInt64 in 100..<5_000 {
      let met = book.meet(PeerID(high: number, low: 0), name: try PeerName("x\(number)"), isAddressed: false)
      #expect(met != nil)
      #expect(book.takeEvicted().count == 1)
    }
    #expect(people[..<3].allSatisfy { book[$0] != nil } && book.all.count == 4)
  }

  @Test func aFullBookMakesRoomForADecisionOrSaysThatItCannot() throws {
    var book = ContactBook(capacity: 3)
    for number: UInt64 in 1...3 {
      _ = book.meet(PeerID(high: number, low: 0), name: try PeerName("n\(number)"), isAddressed: false)
    }
    // The first was used again, so the second goes.
    _ = book.meet(PeerID(high: 1, low: 0), name: try PeerName("n1"), isAddressed: false)
    let trusted = book.trust(PeerID(high: 9, low: 0), name: try PeerName("nine"), isVerified: true)
    #expect(trusted.map(\.peer) == [PeerID(high: 9, low: 0)] && book.takeEvicted() == [PeerID(high: 2, low: 0)])
    for number: UInt64 in [10, 11] {
      let blocked = book.setBlocked(true, PeerID(high: number, low: 0), name: try PeerName("b\(number)"))
      #expect(blocked?.isBlocked == true)
    }
    let refused = book.trust(PeerID(high: 12, low: 0), name: try PeerName("y"), isVerified: true)
    let unblocked = book.setBlocked(true, PeerID(high: 12, low: 0), name: try PeerName("y"))
    #expect(refused.isEmpty && unblocked == nil && book.all.count == 3)
  }
}

@Suite struct FingerprintTests {
  @Test func bothSidesSeeTheSameSixtyDigits() throws {
    let (one, other) = (PeerID(high: 5, low: 6), PeerID(high: 4, low: 9))
    let fingerprint = try Fingerprint(one, other)
    #expect(fingerprint == (try Fingerprint(other, one)))
    #expect(fingerprint.groups.count == 12 && fingerprint.groups.allSatisfy { $0.count == 5 && Int($0) != nil })
    #expect(fingerprint != (try Fingerprint(one, PeerID(high: 4, low: 8))))
  }

  /// SHA-256 of the label and the two IDs, its first 25 bytes modulo 10^60, by another program.
  @Test func digitsAreThoseOfTheDefinition() throws {
    let fingerprint = try Fingerprint(PeerID(high: 1, low: 2), PeerID(high: 3, low: 4))
    #expect(fingerprint.description == "44409 86414 87022 24467 99132 85501 70141 54136 06205 68806 59854 59260")
  }
}
