import TestKit
import Testing

@testable import Identities

@Suite struct ContactBookTests {
  private let bob = PeerID(high: 1, low: 1)
  private let mallory = PeerID(high: 2, low: 2)

  private func makeBook() throws -> ContactBook {
    var book = ContactBook()
    let name = try PeerName("bob")
    _ = book.meet(bob, name: name)
    return book
  }

  @Test func strangerWithAFriendsNameStopsSendingUntilSettled() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    let observed = book.observe(mallory, name: name)
    let changed = try #require(observed)
    #expect(changed.peer == bob && changed.rival == mallory && changed.state == .changed)
    #expect(book.mayReach(bob) == .changed(changed) && book.mayReach(mallory) == .changed(changed))
    let again = book.observe(mallory, name: name)
    #expect(again == nil, "it is said once")

    _ = book.trust(bob, name: name, isVerified: false)
    #expect(book.mayReach(bob) == .fine && book[bob]?.state == .seen)
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
    #expect(book.mayReach(mallory) == .fine && book.mayReach(bob) == .fine)
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
    #expect(restored.mayReach(bob) == .fine)
  }

  @Test func trustDoesNotUnblock() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    _ = book.setBlocked(true, bob, name: name)
    _ = book.trust(bob, name: name, isVerified: true)
    #expect(book.mayReach(bob) == .blocked)
  }

  @Test func verifiedFriendStaysReachable() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    _ = book.trust(bob, name: name, isVerified: true)
    let observed = book.observe(mallory, name: name)
    let contact = try #require(observed)
    #expect(contact.state == .verified && contact.rival == mallory)
    #expect(book.mayReach(bob) == .fine && book.mayReach(mallory) == .changed(contact))
  }

  @Test func namesAreComparedUnderCanonicalEquivalence() throws {
    var book = ContactBook()
    _ = book.meet(bob, name: try PeerName("Zo\u{EB}"))
    let observed = book.observe(mallory, name: try PeerName("Zoe\u{308}"))
    #expect(observed != nil)
  }

  @Test func blockedIsNotReachedAndDoesNotDisturb() throws {
    var book = try makeBook()
    let name = try PeerName("bob")
    let blocked = book.setBlocked(true, mallory, name: name)
    #expect(blocked?.isBlocked == true)
    #expect(book.mayReach(mallory) == .blocked && book.blocked == [mallory])
    let observed = book.observe(mallory, name: name)
    let freed = book.setBlocked(false, mallory, name: name)
    #expect(observed == nil && freed?.isBlocked == false && book.blocked.isEmpty)
  }

  @Test func strangersNeverPushContactsOut() throws {
    var book = ContactBook(capacity: 3)
    for number in 1...3 {
      #expect(book.meet(PeerID(high: UInt64(number), low: 0), name: try PeerName("n\(number)")) != nil)
    }
    for number in 4...10_000 {
      let met = book.meet(PeerID(high: UInt64(number), low: 0), name: try PeerName("x"))
      #expect(met == nil)
      _ = book.observe(PeerID(high: UInt64(number), low: 0), name: try PeerName("x"))
    }
    #expect(book.all.map(\.name.text) == ["n1", "n2", "n3"])
    let kept = book.trust(PeerID(high: 99, low: 0), name: try PeerName("y"), isVerified: true)
    #expect(kept.isEmpty)
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
