import Identities
import Streams
import TestKit
import Testing
import Transports

@testable import Links

@Suite struct LinkTableTests {
  let low = PeerID(high: 1, low: 0)
  let high = PeerID(high: 2, low: 0)
  let now = MonotonicTime(nanoseconds: 1_000_000_000)

  func id(_ number: UInt64) -> LinkID { LinkID(number: number) }

  @Test func theFirstLinkToAPeerIsItsLink() {
    var table = LinkTable(ownID: low)
    #expect(table.opened(id(1), role: .central, now: now) == [])
    #expect(table.established(id(1), peer: high, now: now) == [.up(slot: 0, peer: high)])
    #expect(table.linkedCount == 1 && table.slot(of: high) == 0)
    #expect(table.ended(id(1), now: now) == [.down(slot: 0, peer: high)])
    #expect(table.linkedCount == 0 && table.slot(of: high) == 0)
  }

  @Test func theSurvivorTakesOverOnlyAfterThePeerHasShownThatItHasIt() {
    var table = LinkTable(ownID: low)
    _ = table.opened(id(1), role: .peripheral, now: now)
    _ = table.opened(id(2), role: .central, now: now)
    _ = table.established(id(1), peer: high, now: now)
    // We are the lower: the link that we dialled stays.
    #expect(table.established(id(2), peer: high, now: now) == [])
    #expect(table.slots[0]?.active == id(1) && table.slots[0]?.successor == id(2))
    #expect(table.confirmed(id(2)) == [.moved(slot: 0, to: id(2)), .close(id(1), .duplicate)])
    #expect(table.ended(id(1), now: now) == [])
    #expect(table.slots[0]?.active == id(2))
  }

  @Test func halfOpenLinksAreBounded() {
    var table = LinkTable(ownID: low)
    for number in 0..<UInt64(LinksLimits.halfOpen) {
      #expect(table.opened(id(number), role: .peripheral, now: now) == [])
    }
    #expect(table.opened(id(99), role: .peripheral, now: now) == [.close(id(0), .halfOpenEvicted)])
    #expect(table.halfOpenCount == LinksLimits.halfOpen)
    #expect(table.established(id(0), peer: high, now: now) == [])
    _ = table.established(id(99), peer: high, now: now)
    #expect(table.opened(id(100), role: .peripheral, now: now) == [])
  }

  @Test func ourOwnDialsHavePlacesOfTheirOwn() {
    var table = LinkTable(ownID: low)
    for number in 0..<UInt64(LinksLimits.halfOpen) { _ = table.opened(id(number), role: .peripheral, now: now) }
    #expect(table.opened(id(50), role: .central, now: now) == [])
    #expect(table.opened(id(51), role: .peripheral, now: now) == [.close(id(0), .halfOpenEvicted)])
    #expect(table.established(id(50), peer: high, now: now) == [.up(slot: 0, peer: high)])
  }

  @Test func whoSaysNothingMakesRoomBeforeWhoSpeaks() {
    var table = LinkTable(ownID: low)
    for number in 0..<UInt64(LinksLimits.halfOpen) {
      _ = table.opened(id(number), role: .peripheral, now: now.advanced(by: .milliseconds(Int64(number))))
    }
    table.heard(id(0))
    #expect(table.opened(id(99), role: .peripheral, now: now) == [.close(id(1), .halfOpenEvicted)])
    for number in 0..<UInt64(LinksLimits.halfOpen) { table.heard(id(number)) }
    table.heard(id(99))
    #expect(table.opened(id(100), role: .peripheral, now: now).count == 1, "and of those who dawdle the oldest")
  }

  @Test func aLinkThatDoesNotProveItselfInTimeIsClosed() {
    var table = LinkTable(ownID: low)
    _ = table.opened(id(1), role: .central, now: now)
    let deadline = now.advanced(by: LinksLimits.handshakeTimeout)
    #expect(table.deadline == deadline)
    #expect(table.expire(now: MonotonicTime(nanoseconds: deadline.nanoseconds - 1)) == [])
    #expect(table.expire(now: deadline) == [.close(id(1), .handshakeTimeout)])
    #expect(table.expire(now: deadline) == [] && table.deadline == nil)
  }

  @Test func aSlotIsGivenToAnotherOnlyWhenNoneIsFree() {
    var table = LinkTable(ownID: low)
    for number in 0..<UInt64(LinksLimits.slots) {
      _ = table.opened(id(number), role: .central, now: now)
      _ = table.established(id(number), peer: PeerID(high: 100 + number, low: 0), now: now)
    }
    _ = table.opened(id(500), role: .central, now: now)
    #expect(table.established(id(500), peer: high, now: now) == [.close(id(500), .noFreeSlot)])
    _ = table.ended(id(500), now: now)
    _ = table.ended(id(9), now: now.advanced(by: .seconds(2)))
    _ = table.ended(id(5), now: now.advanced(by: .seconds(1)))
    _ = table.opened(id(501), role: .central, now: now)
    #expect(
      table.established(id(501), peer: high, now: now)
        == [.reassigned(slot: 5), .up(slot: 5, peer: high)])
    // A peer that comes back finds its slot.
    _ = table.opened(id(502), role: .central, now: now)
    #expect(
      table.established(id(502), peer: PeerID(high: 109, low: 0), now: now) == [
        .up(slot: 9, peer: PeerID(high: 109, low: 0))
      ])
  }

  /// Both tables of one pair of peers, whose events come in any order the links allow.
  struct Pair {
    enum Event {
      case open(LinkID)
      case establish(side: Int, LinkID)
      /// What the other side sent over the link after its handshake.
      case hear(side: Int, LinkID)
      case end(side: Int, LinkID)
    }

    var tables: [LinkTable]
    let peers: [PeerID]
    var central: [LinkID: Int] = [:]
    var isOpen: [LinkID: [Bool]] = [:]
    var isEstablished: [LinkID: [Bool]] = [:]
    var pending: [Event] = []
    var trace: [Event] = []
    var ups = [0, 0]
    var isUp = [false, false]
    let now = MonotonicTime(nanoseconds: 1_000_000_000)

    init(_ low: PeerID, _ high: PeerID) {
      peers = [low, high]
      tables = [LinkTable(ownID: low), LinkTable(ownID: high)]
    }

    mutating func run(_ random: inout SeededGenerator) -> String? {
      while !pending.isEmpty {
        let possible = pending.indices.filter { isPossible(pending[$0]) }
        guard let index = possible.randomElement(using: &random) else { return "stuck with \(pending)" }
        if let wrong = perform(pending.remove(at: index)) { return wrong }
      }
      return nil
    }

    private func isPossible(_ event: Event) -> Bool {
      switch event {
      case .open: true
      case .establish(let side, let id): isOpen[id]![side] || !isOpen[id]!.contains(true)
      case .hear(let side, let id): isEstablished[id]![side] || !isOpen[id]![side]
      case .end: true
      }
    }

    private mutating func perform(_ event: Event) -> String? {
      trace.append(event)
      switch event {
      case .open(let id):
        isOpen[id] = [true, true]
        for side in 0...1 {
          act(side, tables[side].opened(id, role: central[id] == side ? .central : .peripheral, now: now))
          pending.append(.establish(side: side, id))
        }
      case .establish(let side, let id):
        // An end that came first ends the handshake, too.
        guard isOpen[id]![side] else { return nil }
        isEstablished[id]![side] = true
        act(side, tables[side].established(id, peer: peers[1 - side], now: now))
        pending.append(.hear(side: 1 - side, id))
      case .hear(let side, let id):
        guard isOpen[id]![side] else { return nil }
        act(side, tables[side].confirmed(id))
      case .end(let side, let id):
        guard isOpen[id]![side] else { return nil }
        isOpen[id]![side] = false
        act(side, tables[side].ended(id, now: now))
      }
      for side in 0...1 where tables[side].linkedCount > 1 { return "two slots for one peer" }
      return nil
    }

    private mutating func act(_ side: Int, _ actions: [LinkTable.Action]) {
      for action in actions {
        switch action {
        case .close(let id, _): for side in 0...1 { pending.append(.end(side: side, id)) }
        case .up:
          ups[side] += 1
          isUp[side] = true
        case .down: isUp[side] = false
        case .moved, .reassigned: break
        }
      }
    }
  }

  @Test func bothSidesAlwaysEndWithTheSameSingleLink() {
    for seed: UInt64 in 0..<20_000 {
      var random = SeededGenerator(seed: seed)
      var pair = Pair(low, high)
      for number in 1...UInt64.random(in: 1...5, using: &random) {
        let link = id(number)
        pair.central[link] = Int.random(in: 0...1, using: &random)
        pair.isOpen[link] = [false, false]
        pair.isEstablished[link] = [false, false]
        pair.pending.append(.open(link))
      }
      if let wrong = pair.run(&random) {
        Issue.record("seed \(seed): \(wrong)")
        return
      }
      let active = pair.tables.map { $0.slots[0]?.active }
      guard let survivor = active[0], active[1] == survivor, pair.isOpen[survivor] == [true, true],
        pair.isUp == [true, true],
        pair.tables.allSatisfy({ $0.links.count == 1 })
      else {
        Issue.record(
          "seed \(seed): they hold \(active), links \(pair.tables.map { $0.links.keys.sorted() }), \(pair.central), \(pair.trace)"
        )
        return
      }
    }
  }
}
