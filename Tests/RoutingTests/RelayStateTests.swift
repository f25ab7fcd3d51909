import Identities
import Streams
import Testing
import WireFormat

@testable import Routing

@Suite struct RelayStateTests {
  static let ownEntry: UInt32 = 0x0A0A_0A0A

  /// A packet as it came over the air.
  func packet(
    _ kind: PacketKind = .personal, timeToLive: UInt8? = nil, hops: UInt8 = 0, age: UInt32 = 0, time: UInt64 = 0,
    route: [UInt32] = [], body: [UInt8] = [1]
  ) throws -> Packet {
    let draft = try PacketDraft(
      kind: kind, timeToLive: timeToLive, time: time, origin: Tag(rawValue: 1), destination: Tag(rawValue: 2),
      body: body)
    var bytes = draft.signed { _ in [UInt8](repeating: 0, count: 64) }.encoded
    for entry in route { bytes = try Packet(decoding: bytes).relayed(addingAge: 0, appending: entry) }
    bytes[1] = hops
    for index in 0..<4 { bytes[2 + index] = UInt8(truncatingIfNeeded: age >> (24 - 8 * UInt32(index))) }
    return try Packet(decoding: bytes)
  }

  func state(links: [Int] = [1, 2, 3]) -> RelayState {
    var state = RelayState(key: (1, 2), ownEntry: Self.ownEntry)
    for link in links { state.linkUp(link, entry: UInt32(link)) }
    return state
  }

  let id = PacketID(high: 7, low: 7)
  let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

  func set(_ slots: Int...) -> LinkSet {
    var set = LinkSet.none
    for slot in slots { set.insert(slot) }
    return set
  }

  @Test func aNewPacketGoesToEveryLinkButTheOneItCameFrom() throws {
    var state = state()
    let decision = state.receive(try packet(), id: id, from: 2, now: now, wallMilliseconds: nil)
    #expect(decision == .init(verdict: .accepted, forward: set(1, 3)))
  }

  @Test func aPacketOfOurOwnGoesToEveryLink() throws {
    var state = state()
    let own = Int(SeenTable.ownSlot)
    #expect(state.receive(try packet(), id: id, from: own, now: now, wallMilliseconds: nil).forward == set(1, 2, 3))
    let back = state.receive(try packet(), id: id, from: 1, now: now, wallMilliseconds: nil)
    #expect(back == .init(verdict: .duplicate, forward: .none))
  }

  @Test func aDuplicateIsNotForwarded() throws {
    var state = state()
    _ = state.receive(try packet(), id: id, from: 2, now: now, wallMilliseconds: nil)
    for link in 1...3 {
      let again = state.receive(try packet(), id: id, from: link, now: now, wallMilliseconds: nil)
      #expect(again == .init(verdict: .duplicate, forward: .none))
    }
    let other = state.receive(try packet(), id: PacketID(high: 7, low: 8), from: 2, now: now, wallMilliseconds: nil)
    #expect(other.verdict == .accepted)
  }

  @Test func aRelayInTheRouteIsSparedTheSend() throws {
    var state = state()
    let decision = state.receive(
      try packet(hops: 2, route: [3, 99]), id: id, from: 2, now: now, wallMilliseconds: nil)
    #expect(decision == .init(verdict: .accepted, forward: set(1)))
  }

  @Test func ourOwnEntryInAForgedRouteIsCountedAndNeverDrops() throws {
    var state = state()
    let decision = state.receive(
      try packet(hops: 1, route: [Self.ownEntry]), id: id, from: 2, now: now, wallMilliseconds: nil)
    #expect(decision.verdict == .accepted && decision.isOwnRouteForged && decision.forward == set(1, 3))
  }

  @Test func aCopyWithTwoMoreHopsLeftIsRelayedOnceMore() throws {
    for (hops, verdict) in [(UInt8(9), RelayState.Verdict.duplicate), (8, .upgraded), (0, .upgraded)] {
      var state = state()
      _ = state.receive(try packet(hops: 10), id: id, from: 2, now: now, wallMilliseconds: nil)
      let better = state.receive(try packet(hops: hops), id: id, from: 3, now: now, wallMilliseconds: nil)
      #expect(better.verdict == verdict, "\(hops) hops")
      #expect(better.forward == (verdict == .upgraded ? set(1, 2) : .none))
      let third = state.receive(try packet(hops: 0), id: id, from: 1, now: now, wallMilliseconds: nil)
      #expect(third.verdict == (verdict == .upgraded ? .duplicate : .upgraded))
    }
  }

  /// A neighbour that has a packet first sends the others copies that go nowhere.
  @Test func threat12_poorCopiesDoNotCutTheReachOfTheRealOne() throws {
    var state = state()
    for hops in [127, 125] as [UInt8] {
      _ = state.receive(try packet(hops: hops), id: id, from: 2, now: now, wallMilliseconds: nil)
    }
    let real = state.receive(try packet(hops: 1), id: id, from: 1, now: now, wallMilliseconds: nil)
    #expect(real.verdict == .upgraded && real.forward == set(2, 3))
    var relayed = 0
    for hops in (0...127 as ClosedRange<UInt8>).reversed() {
      let copy = state.receive(try packet(hops: hops), id: id, from: 2, now: now, wallMilliseconds: nil)
      if copy.verdict != .duplicate { relayed += 1 }
    }
    #expect(relayed == 0)
    var fresh = self.state()
    for hops in (0...127 as ClosedRange<UInt8>).reversed() {
      let copy = fresh.receive(try packet(hops: hops), id: id, from: 2, now: now, wallMilliseconds: nil)
      if copy.verdict != .duplicate { relayed += 1 }
    }
    #expect(relayed <= 8, "one packet is relayed \(relayed) times at most")
  }

  /// Made older than it is a packet would die in the hands of those who get it later.
  @Test func threat12_packetThatIsMadeOlderThanItsTimeIsRefused() throws {
    var state = state()
    let real = try packet(hops: 1, time: 1_800_000_000_000)
    let wall = real.header.time
    var bytes = real.encoded
    Packet.age(&bytes, at: 0, by: UInt32(RoutingLimits.futureToleranceMilliseconds) + 1)
    let aged = try Packet(decoding: bytes)
    #expect(state.receive(aged, id: id, from: 2, now: now, wallMilliseconds: wall).verdict == .wrongTime)
    #expect(state.receive(real, id: id, from: 1, now: now, wallMilliseconds: wall).verdict == .accepted)
  }

  @Test func withoutHopsLeftAPacketIsDeliveredAndStays() throws {
    for (hops, isOut) in [(UInt8(125), false), (126, false), (127, true), (128, true), (255, true)] {
      var state = state()
      let decision = state.receive(try packet(hops: hops), id: id, from: 2, now: now, wallMilliseconds: nil)
      #expect(decision.verdict == .accepted)
      #expect(decision.isOutOfHops == isOut && decision.forward == (isOut ? .none : set(1, 3)), "\(hops) hops")
    }
  }

  @Test func theOriginsWishLimitsTheHops() throws {
    for (timeToLive, isOut) in [(UInt8(0), true), (1, true), (2, false)] {
      var state = state()
      let packet = try packet(timeToLive: timeToLive)
      let decision = state.receive(packet, id: id, from: 2, now: now, wallMilliseconds: nil)
      #expect(decision.isOutOfHops == isOut, "time to live \(timeToLive)")
    }
  }

  @Test func aPacketExpiresByItsAgeToTheMillisecond() throws {
    for kind in [PacketKind.personal, .public, .urgent, .presence, .card] {
      for (age, verdict) in [(kind.lifetime - 1, RelayState.Verdict.accepted), (kind.lifetime, .expired)] {
        var state = state()
        let decision = state.receive(
          try packet(kind, age: UInt32(age)), id: id, from: 2, now: now, wallMilliseconds: nil)
        #expect(decision.verdict == verdict, "\(kind.name) at \(age) ms")
        if verdict == .expired { #expect(decision.forward.isEmpty && state.seen.count == 0) }
      }
    }
  }

  @Test func aTimeIsHeldAgainstASynchronisedClockToTheMillisecond() throws {
    let wall: UInt64 = 1_800_000_000_000
    let oldest = wall - PacketKind.public.lifetime - RoutingLimits.pastToleranceMilliseconds
    let newest = wall + RoutingLimits.futureToleranceMilliseconds
    for (time, verdict) in [
      (oldest - 1, RelayState.Verdict.wrongTime), (oldest, .accepted), (newest, .accepted), (newest + 1, .wrongTime),
      (0, .wrongTime), ((1 << 48) - 1, .wrongTime),
    ] {
      var state = state()
      let packet = try packet(.public, time: time)
      #expect(state.receive(packet, id: id, from: 2, now: now, wallMilliseconds: wall).verdict == verdict, "\(time)")
      var unsynchronised = self.state()
      #expect(unsynchronised.receive(packet, id: id, from: 2, now: now, wallMilliseconds: nil).verdict == .accepted)
    }
  }

  @Test func aWatermarkRefusesWhatWasMadeBeforeIt() throws {
    var state = RelayState(key: (1, 2), ownEntry: 0, seen: SeenTable(limit: 16, quota: 100))
    for number in 0..<17 {
      let time = MonotonicTime(nanoseconds: UInt64(1_000 + number) * 1_000_000_000)
      _ = state.receive(
        try packet(), id: PacketID(high: UInt64(number), low: 0), from: 1, now: time, wallMilliseconds: nil)
    }
    #expect(state.seen.watermarkSecond == RoutingLimits.dedupHorizonSeconds + 1_003)
    let now = MonotonicTime(nanoseconds: 1_020 * 1_000_000_000)
    for (age, verdict) in [(UInt32(17_999), RelayState.Verdict.accepted), (18_000, .tooOld), (4_000_000, .tooOld)] {
      let fresh = PacketID(high: UInt64(age), low: 9)
      let decision = state.receive(try packet(age: age), id: fresh, from: 1, now: now, wallMilliseconds: nil)
      #expect(decision.verdict == verdict, "\(age) ms")
    }
  }

  @Test func nothingOfABlockedOriginIsDeliveredOrPassedOn() throws {
    var state = state()
    let packet = try packet()
    state.block([packet.header.origin])
    let refused = state.receive(packet, id: id, from: 2, now: now, wallMilliseconds: nil)
    #expect(refused == .init(verdict: .blocked, forward: .none))
    state.block([])
    let taken = state.receive(packet, id: id, from: 2, now: now, wallMilliseconds: nil)
    #expect(taken.verdict == .accepted, "what was refused was not remembered as seen")
  }

  @Test func aLinkThatIsDownGetsNothing() throws {
    var state = state()
    state.linkDown(3)
    #expect(state.receive(try packet(), id: id, from: 2, now: now, wallMilliseconds: nil).forward == set(1))
  }

  @Test func withoutDeduplicationEverythingIsPassedOnAgain() throws {
    var state = RelayState(key: (1, 2), ownEntry: 0, isDeduplicating: false)
    state.linkUp(1, entry: 1)
    for _ in 0..<3 {
      #expect(state.receive(try packet(), id: id, from: 2, now: now, wallMilliseconds: nil).forward == set(1))
    }
  }
}

@Suite struct CarryStoreTests {
  let now = MonotonicTime(nanoseconds: 1_000_000_000)

  func packet(
    _ number: UInt64, kind: PacketKind = .public, origin: UInt64 = 1, byteCount: Int = 100, holders: LinkSet = .none
  ) -> CarriedPacket {
    CarriedPacket(
      id: PacketID(high: number, low: 0), kind: kind, origin: Tag(rawValue: origin),
      bytes: [UInt8](repeating: 0, count: byteCount), since: now, expiry: now.advanced(by: .seconds(100)),
      holders: holders)
  }

  @Test func aNeighbourGetsWhatItMissesOldestFirst() {
    var store = CarryStore()
    for number: UInt64 in 1...5 { store.insert(packet(number)) }
    store.mark(2, heldBy: 7)
    store.mark(4, heldBy: 7)
    store.mark(99, heldBy: 7)
    #expect(store.missing(at: 7, now: now).map(\.id.key) == [1, 3, 5])
    #expect(store.missing(at: 8, now: now).map(\.id.key) == [1, 2, 3, 4, 5])
    store.forgetHolder(7)
    #expect(store.missing(at: 7, now: now).count == 5)
  }

  @Test func whatHasExpiredIsNotHandedOut() {
    var store = CarryStore()
    store.insert(packet(1))
    #expect(store.missing(at: 0, now: now.advanced(by: .milliseconds(99_999))).count == 1)
    #expect(store.missing(at: 0, now: now.advanced(by: .seconds(100))).isEmpty)
  }

  @Test func theOldestGoesByNumberAndIsCounted() {
    var store = CarryStore(packetLimit: 3)
    for number: UInt64 in 1...3 { store.insert(packet(number)) }
    #expect(store.evicted == 0)
    store.insert(packet(4))
    #expect(store.evicted == 1 && store.packetCount == 3 && store[1] == nil && store[2] != nil)
  }

  @Test func theOldestGoByBytesAndAreCounted() {
    var store = CarryStore(packetLimit: 100, byteLimit: 1_000)
    for number: UInt64 in 1...10 { store.insert(packet(number)) }
    #expect(store.byteCount == 1_000 && store.evicted == 0)
    store.insert(packet(11, byteCount: 101))
    #expect(store.byteCount == 901 && store.evicted == 2 && store[2] == nil && store[3] != nil)
    store.insert(packet(12, byteCount: 1_001))
    #expect(store[12] == nil && store.byteCount == 901)
    store.insert(packet(13, byteCount: 1_000))
    #expect(store.packetCount == 1 && store.byteCount == 1_000)
  }

  @Test func whatIsKeptOfAnOriginGoesAtOnce() {
    var store = CarryStore(packetLimit: 4)
    for number: UInt64 in 1...6 { store.insert(packet(number, origin: number % 2)) }
    #expect(store.remove(of: [Tag(rawValue: 1)]) == [3, 5])
    #expect(store.packetCount == 2 && store.byteCount == 200 && store.missing(at: 0, now: now).map(\.id.key) == [4, 6])
    for number: UInt64 in 7...12 { store.insert(packet(number, origin: 2)) }
    #expect(store.missing(at: 0, now: now).map(\.id.key) == [9, 10, 11, 12])
  }

  @Test func ofThePeersCardsOnlyTheNewestStays() {
    var store = CarryStore(packetLimit: 4)
    for number: UInt64 in 1...50 { store.insert(packet(number, kind: .card, origin: number % 2)) }
    #expect(store.packetCount == 2 && store.evicted == 0 && store.byteCount == 200)
    #expect(store[49] != nil && store[50] != nil)
    store.insert(packet(50, kind: .card))
    #expect(store.packetCount == 2)
  }
}

@Suite struct BacklogTests {
  @Test func oldNewsAreHandedOutLittleByLittle() {
    var backlog = Backlog()
    let keys = (0..<100).map { UInt64($0) }
    #expect(backlog.start(1, keys: keys) == Array(keys[..<Backlog.ahead]))
    #expect(backlog.acknowledged(1, keys: [500]) == [])
    #expect(backlog.acknowledged(1, keys: [0, 1, 2]) == [32, 33, 34])
    #expect(backlog.acknowledged(2, keys: [3]) == [])
    var handedOut = 35
    var next: UInt64 = 3
    while handedOut < 100 {
      handedOut += backlog.acknowledged(1, keys: [next]).count
      next += 1
    }
    #expect(backlog.acknowledged(1, keys: keys) == [])
    #expect(backlog.start(1, keys: [7]) == [7])
    backlog.stop(1)
    #expect(backlog.acknowledged(1, keys: [7]) == [])
    #expect(backlog.start(1, keys: []) == [])
  }
}
