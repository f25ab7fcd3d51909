import Identities
import Testing

struct CardTableTests {
  @Test func threat08_anOldCardNeverReplacesANewerOne() throws {
    let keys = try makeKeys()
    let first = try makeCard(keys, sequence: 5)
    let second = try makeCard(keys, name: "Ada L", sequence: 6)
    var table = CardTable()
    expect(table.update(first, now: 1), .added(evicted: nil))
    expect(table.update(first, now: 2), .unchanged)
    expect(table.update(second, now: 3), .replaced(previous: first))
    expect(table.update(first, now: 4), .stale(kept: 6))
    #expect(table[keys.id] == second)
    #expect(table.lastHeard(keys.id) == 4)
    table.heard(keys.id, now: 2)
    #expect(table.lastHeard(keys.id) == 4)
  }

  @Test func bearersOfANameAreThoseWhoCallThemselvesSoNow() throws {
    let keys = try makeKeys()
    let twin = try makeCard(makeKeys(), name: "\u{410}DA")
    var table = CardTable()
    for card in [try makeCard(keys, name: "Ada", sequence: 5), twin, try makeCard(makeKeys(), name: "Eve")] {
      _ = table.update(card, now: 1)
    }
    let name = try PeerName("ada")
    #expect(Set(table.bearers(of: name).keys) == [keys.id, twin.id])
    _ = table.update(try makeCard(keys, name: "Augusta", sequence: 6), now: 2)
    #expect(table.bearers(of: name) == [twin.id: twin.card.name])
  }

  @Test func twoCardsOfOneSequenceAreReportedAndTheOldOneStays() throws {
    let keys = try makeKeys()
    let first = try makeCard(keys, sequence: 5)
    let twin = try makeCard(keys, name: "Eve", sequence: 5)
    var table = CardTable()
    _ = table.update(first, now: 1)
    expect(table.update(twin, now: 2), .equivocation(kept: first))
    #expect(table[keys.id] == first)
  }

  @Test func theLeastRecentlyHeardMakesRoomButNeverAContact() throws {
    var table = CardTable(capacity: 3)
    var cards: [VerifiedCard] = []
    for index in 0..<5 {
      let keys = try makeKeys()
      cards.append(try makeCard(keys, name: "n\(index)"))
    }
    for (index, card) in cards[..<3].enumerated() { _ = table.update(card, now: UInt64(index)) }
    table.setPinned(true, cards[0].id)
    table.heard(cards[1].id, now: 10)
    expect(table.update(cards[3], now: 11), .added(evicted: cards[2].id))
    #expect(table.count == 3 && table.evictions == 1)
    for card in [cards[1], cards[3]] { table.setPinned(true, card.id) }
    expect(table.update(cards[4], now: 12), .full)
    #expect(table.count == 3)
    #expect(table.isPinned(cards[0].id))
    table.remove(cards[0].id)
    expect(table.update(cards[4], now: 13), .added(evicted: nil))
  }

  @Test func aPeerPinnedBeforeItsCardComesNeverLeaves() throws {
    var table = CardTable(capacity: 2)
    let friend = try makeCard(makeKeys(), name: "friend")
    table.setPinned(true, friend.id)
    _ = table.update(friend, now: 0)
    for number in 1...5 { _ = table.update(try makeCard(makeKeys(), name: "n\(number)"), now: UInt64(number)) }
    #expect(table[friend.id] == friend && table.count == 2)
    table.setPinned(false, friend.id)
    _ = table.update(try makeCard(makeKeys(), name: "n6"), now: 6)
    #expect(table[friend.id] == nil)
  }

  @Test func peersAreFoundByPrefixNameAndTag() throws {
    let keys = try makeKeys()
    let card = try makeCard(keys, name: "Zo\u{EB}")
    var table = CardTable()
    _ = table.update(card, now: 0)
    #expect(table.ids(prefix: keys.id.shortHex.uppercased()) == [keys.id])
    #expect(table.ids(prefix: "zz").isEmpty)
    #expect(table.ids(named: try PeerName("Zoe\u{308}")) == [keys.id])
    #expect(table.ids(tag: keys.id.tag) == [keys.id])
    #expect(table.cards == [card])
  }

  private func expect(
    _ outcome: CardTable.Outcome, _ expected: CardTable.Outcome, at location: SourceLocation = #_sourceLocation
  ) {
    #expect(outcome == expected, sourceLocation: location)
  }
}
