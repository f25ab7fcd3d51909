import Bytes
import Streams
import TestKit
import Testing
import WireFormat

@testable import Routing

/// Packets for one node, a few relays at a time, in virtual time.
@Suite struct EngineLaneTests {
  /// A grid in which everybody has spoken.
  func grid(_ side: Int, withoutTrees: Set<Int> = [], seed: UInt64 = 1) throws -> EngineMesh {
    var mesh = EngineMesh(side * side, edges: EngineMesh.grid(side), withoutTrees: withoutTrees, seed: seed)
    for node in 0..<side * side { _ = try mesh.spread(node, wait: .seconds(1)) }
    return mesh
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func whoHasSpokenIsReachedByItsLinksAlone(seed: UInt64) throws {
    var mesh = try grid(5, seed: seed)
    for (one, other, links) in [(0, 24, 8), (24, 0, 8), (3, 20, 7), (12, 13, 1), (7, 22, 3)] {
      let key = try mesh.whisper(one, to: other)
      mesh.run(for: .seconds(2))
      check(mesh.answered[key] != nil && mesh.reached[key] == [one, other], "seed \(seed)")
      // The quickest way is not always the shortest.
      check((links...links + 6).contains(mesh.sends[key] ?? 0), "seed \(seed): \(mesh.sends[key] ?? 0) of \(links)")
    }
    check((mesh.counts[.lanesDoubled] ?? 0) == 0 && (mesh.counts[.lanesEnded] ?? 0) == 0)
    check((mesh.counts[.lanesAnswered] ?? 0) == 5)
  }

  @Test func aPacketOnALaneIsNeitherAnnouncedNorCompared() throws {
    var mesh = try grid(4)
    let key = try mesh.whisper(0, to: 15)
    mesh.run(for: .seconds(2))
    let sends = mesh.sends[key]
    mesh.run(for: .seconds(200))
    check(mesh.sends[key] == sends && mesh.reached[key] == [0, 15])
    // A newcomer is not given it either.
    mesh.cut(1, 2)
    mesh.link(1, 2)
    mesh.run(for: .seconds(200))
    check(mesh.sends[key] == sends)
  }

  @Test func whoHasNeverSpokenIsReachedByAFlood() throws {
    var mesh = EngineMesh(16, edges: EngineMesh.grid(4))
    let key = try mesh.whisper(0, to: 15)
    mesh.run(for: .seconds(2))
    check(mesh.reached[key] == [0, 15] && mesh.answered[key] != nil)
    check((mesh.sends[key] ?? 0) >= 15)
    // Its answer has shown the way to either.
    check(try mesh.ask(0, 15).sends <= 12)
    check(try mesh.ask(15, 0).sends <= 12)
  }

  @Test(arguments: [UInt64(1), 2, 3, 4])
  func whatIsOnItsWayOverALostLinkTakesAnother(seed: UInt64) throws {
    var mesh = try grid(4, seed: seed)
    for _ in 0..<6 {
      let key = try mesh.whisper(0, to: 15)
      // The first frame that is in the air loses its link.
      mesh.run(for: .milliseconds(35))
      if let event = mesh.events.first(where: {
        if case .packet(let packet) = $0.load { packet.key == key } else { false }
      }) {
        mesh.cut(event.from, event.to)
        mesh.run(for: .seconds(8))
        check(mesh.reached[key] == [0, 15] && mesh.answered[key] != nil, "seed \(seed)")
        mesh.link(event.from, event.to)
      }
      mesh.run(for: .seconds(8))
    }
    check((mesh.counts[.lanesMended] ?? 0) > 0, "seed \(seed)")
  }

  @Test(arguments: [UInt64(1), 2, 3, 4, 5])
  func whoSwallowsCostsTimeAndTheAnswerGoesRoundIt(seed: UInt64) throws {
    var mesh = try grid(5, seed: seed)
    mesh.swallowing = [6, 12, 18]
    for (one, other) in [(0, 24), (10, 14), (2, 22), (24, 0)] {
      let key = try mesh.whisper(one, to: other)
      mesh.run(for: .seconds(12))
      check(mesh.answered[key] != nil && mesh.reached[key] == [one, other], "seed \(seed) \(one) \(other)")
      // What is said next takes the way of the answer.
      let next = try mesh.ask(one, other, wait: .seconds(1))
      check(next.isAnswered && next.sends < 20, "seed \(seed) \(one) \(other): \(next.sends)")
    }
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func whoClaimsToBeTheDestinationCostsTimeOnly(seed: UInt64) throws {
    var mesh = try grid(5, seed: seed)
    for _ in 0..<3 {
      // Whatever it says under the name of another draws the lanes to itself, and what comes it drops.
      mesh.swallowing = [12]
      try mesh.say(12, as: EngineMesh.tag(24))
      mesh.run(for: .seconds(1))
      let key = try mesh.whisper(0, to: 24)
      mesh.run(for: .seconds(12))
      check(mesh.answered[key] != nil && mesh.reached[key]?.contains(24) == true, "seed \(seed)")
    }
  }

  @Test(arguments: [[12], [6, 7, 8, 11, 13, 16, 17, 18], [0, 24], Array(0..<25)])
  func nodesOfTheFirstRulesLoseNothing(old: [Int]) throws {
    var mesh = try grid(5, withoutTrees: Set(old))
    for (one, other) in [(0, 24), (24, 0), (2, 22), (12, 0), (0, 12)] {
      check(try mesh.ask(one, other, wait: .seconds(9)).isAnswered, "\(old): \(one) \(other)")
    }
  }

  @Test func whoIsAwayGetsItWhenItIsBack() throws {
    var mesh = try grid(3)
    for peer in [5, 7] { mesh.cut(8, peer) }
    let key = try mesh.whisper(0, to: 8)
    mesh.run(for: .seconds(30))
    check(mesh.reached[key] == [0])
    mesh.link(8, 5)
    mesh.run(for: .seconds(30))
    check(mesh.reached[key] == [0, 8] && mesh.answered[key] != nil)
  }

  @Test func whatIsSaidAloneIsGivenToWhoComes() throws {
    var mesh = EngineMesh(3, edges: [(1, 2)])
    let key = try mesh.whisper(0, to: 2)
    mesh.run(for: .seconds(30))
    mesh.link(0, 1)
    mesh.run(for: .seconds(30))
    check(mesh.reached[key] == [0, 2] && mesh.answered[key] != nil)
  }

  @Test func lostFramesOfTheLanesLoseNothing() throws {
    var mesh = try grid(4)
    mesh.swallowing = [5]
    mesh.isLost = { event in
      if case .control(.widen) = event.load { true } else { false }
    }
    for (one, other) in [(0, 15), (1, 13), (4, 7)] {
      let key = try mesh.whisper(one, to: other)
      mesh.run(for: .seconds(40))
      check(mesh.answered[key] != nil, "\(one) \(other)")
    }
  }

  // MARK: One relay

  /// A relay with four neighbours that know trees, of which the one in slot 0 is the way to node 9 and the one in slot 1 to 8.
  func relay() throws -> (engine: RelayEngine, now: MonotonicTime) {
    var engine = RelayEngine(configuration: .init(key: (1, 2), ownEntry: 1, ownTag: EngineMesh.tag(0)))
    let now = MonotonicTime(nanoseconds: EngineMesh.hour)
    var actions: [RelayAction] = []
    for slot in 0..<4 {
      engine.neighbourUp(slot, entry: UInt32(slot + 2), tag: EngineMesh.tag(100 + slot), now: now, into: &actions)
      engine.control(.reopen([]), from: slot, now: now, into: &actions)
    }
    for (number, slot) in [(9, 0), (8, 1)] {
      let packet = try PacketDraft(kind: .card, time: 0, origin: EngineMesh.tag(number), body: [1]).unsigned()
      engine.receive(
        ReceivedPacket(
          packet: packet, id: PacketID(high: UInt64(number), low: 0), slot: slot, link: 1, receivedAt: now),
        wallMilliseconds: nil, into: &actions)
    }
    return (engine, now)
  }

  func personal(
    from origin: Int, to destination: Int, _ scope: PacketScope, number: UInt64 = 77, slot: Int, _ now: MonotonicTime
  ) throws -> ReceivedPacket {
    let packet = try PacketDraft(
      kind: .personal, time: 0, origin: EngineMesh.tag(origin), destination: EngineMesh.tag(destination), body: [2]
    ).unsigned()
    return ReceivedPacket(
      packet: try Packet(decoding: packet.relayed(addingAge: 0, appending: nil, scope: scope)),
      id: PacketID(high: number, low: 0), slot: slot, link: 1, receivedAt: now)
  }

  /// What goes out: the links of packets with their scope, and the links that are told with what.
  func out(_ actions: [RelayAction]) -> (sent: [(UInt64, PacketScope)], told: [(Int, PacketScope)]) {
    var sent: [(UInt64, PacketScope)] = []
    var told: [(Int, PacketScope)] = []
    for action in actions {
      switch action {
      case .offer(let packet):
        if let header = try? PacketHeader(decoding: packet.bytes.rawSpan) {
          sent.append((packet.links.bits, header.scope))
        }
      case .control(let slot, .widen(let scope, _)): told.append((slot, scope))
      default: break
      }
    }
    return (sent, told)
  }

  @Test func theWiderCopyIsPassedOnOnceAndTheNarrowerNever() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    engine.receive(try personal(from: 7, to: 9, .lane, slot: 2, now), wallMilliseconds: nil, into: &actions)
    var said = out(actions)
    #expect(said.sent.map(\.0) == [0b1] && said.sent.map(\.1) == [.lane] && said.told.isEmpty)
    engine.acknowledged(0, keys: [77], into: &actions)
    for (scope, slot) in [
      (PacketScope.lanes, 2), (.lanes, 3), (.everybody, 3), (.everybody, 2), (.lane, 3), (.lanes, 1),
    ] {
      actions = []
      engine.receive(try personal(from: 7, to: 9, scope, slot: slot, now), wallMilliseconds: nil, into: &actions)
      said = out(actions)
      switch (scope, slot) {
      // There is no other way: whoever is next is to find one.
      case (.lanes, 2): #expect(said.sent.isEmpty && said.told.map(\.0) == [0] && said.told.map(\.1) == [.lanes])
      case (.everybody, 3):
        #expect(said.sent.map(\.0) == [0b10] && said.sent.map(\.1) == [.everybody])
        #expect(said.told.map(\.0) == [0, 2] && said.told.allSatisfy { $0.1 == .everybody })
      default: #expect(said.sent.isEmpty && said.told.isEmpty, "\(scope) \(slot)")
      }
    }
  }

  @Test func whatComesFromTheNextNodeGoesToEverybody() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    engine.receive(try personal(from: 7, to: 9, .lane, slot: 0, now), wallMilliseconds: nil, into: &actions)
    let said = out(actions)
    #expect(said.sent.map(\.0) == [0b1110] && said.sent.map(\.1) == [.everybody])
    // Those it came through are to do the same.
    #expect(said.told.map(\.0) == [0] && said.told.map(\.1) == [.everybody])
  }

  @Test func whatHasGoneRoundTakesAnotherWay() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    let card = try PacketDraft(kind: .card, time: 0, origin: EngineMesh.tag(9), body: [1]).unsigned()
    engine.receive(
      ReceivedPacket(packet: card, id: PacketID(high: 9, low: 0), slot: 1, link: 1, receivedAt: now),
      wallMilliseconds: nil, into: &actions)
    engine.receive(try personal(from: 7, to: 9, .lane, slot: 2, now), wallMilliseconds: nil, into: &actions)
    actions = []
    engine.receive(try personal(from: 7, to: 9, .lane, slot: 3, now), wallMilliseconds: nil, into: &actions)
    let said = out(actions)
    #expect(said.sent.map(\.0) == [0b10] && said.sent.map(\.1) == [.lanes] && said.told.isEmpty)
  }

  @Test func whatHasGoneRoundAndHasNoOtherWayGoesToEverybody() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    engine.receive(try personal(from: 7, to: 9, .lane, slot: 2, now), wallMilliseconds: nil, into: &actions)
    actions = []
    engine.receive(try personal(from: 7, to: 9, .lane, slot: 3, now), wallMilliseconds: nil, into: &actions)
    let said = out(actions)
    #expect(said.sent.map(\.0) == [0b11] && said.sent.map(\.1) == [.everybody])
    #expect(said.told.map(\.0) == [2, 3])
  }

  @Test func twoLanesThatMeetAreOne() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    for slot in [2, 3] {
      engine.receive(try personal(from: 7, to: 9, .lanes, slot: slot, now), wallMilliseconds: nil, into: &actions)
    }
    let said = out(actions)
    #expect(said.sent.map(\.0) == [0b1] && said.told.isEmpty)
  }

  @Test func theDestinationEndsTheLaneAndAnswersAgainForEachStep() throws {
    var (engine, now) = try relay()
    var kinds: [String] = []
    for (scope, slot) in [
      (PacketScope.lane, 2), (.lane, 3), (.lanes, 3), (.lanes, 1), (.everybody, 1), (.everybody, 0),
    ] {
      var actions: [RelayAction] = []
      engine.receive(try personal(from: 7, to: 0, scope, slot: slot, now), wallMilliseconds: nil, into: &actions)
      for action in actions {
        switch action {
        case .deliver: kinds.append("new")
        case .answerAgain: kinds.append("again")
        default: break
        }
      }
      if scope != .everybody { #expect(out(actions).sent.isEmpty) }
    }
    #expect(kinds == ["new", "again", "again"])
  }

  @Test func aNeighbourThatIsTheDestinationIsTheNextNode() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    engine.receive(try personal(from: 7, to: 102, .lane, slot: 0, now), wallMilliseconds: nil, into: &actions)
    #expect(out(actions).sent.map(\.0) == [0b100])
  }

  @Test func anAnnouncementOfWhatIsKeptForALaneWidensIt() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    engine.receive(try personal(from: 7, to: 9, .lane, slot: 2, now), wallMilliseconds: nil, into: &actions)
    actions = []
    engine.control(.announcement([77]), from: 3, now: now, into: &actions)
    #expect(out(actions).sent.map(\.0) == [0b11])
    actions = []
    engine.control(.widen(.everybody, [77]), from: 3, now: now, into: &actions)
    // What it does not have it asks for.
    engine.control(.widen(.everybody, [55]), from: 3, now: now, into: &actions)
    #expect(out(actions).sent.isEmpty && engine.missing.count == 1)
  }

  @Test func whatOnlyOneHasForEverybodyIsFoundByComparing() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    engine.receive(try personal(from: 7, to: 9, .lane, slot: 2, now), wallMilliseconds: nil, into: &actions)
    #expect(engine.carry.set.count == 2 && engine.carry.packetCount == 3)
    #expect(engine.carry.missing(at: 3, now: now).count == 2)
    _ = engine.carry.widen(77, to: .everybody)
    #expect(engine.carry.set.count == 3 && engine.carry.widen(77, to: .lanes) == nil)
    #expect(engine.carry.missing(at: 3, now: now).count == 3)
  }

  @Test func theScopeOfAPublicPacketSaysNothing() throws {
    var (engine, now) = try relay()
    var actions: [RelayAction] = []
    let packet = try PacketDraft(kind: .public, time: 0, origin: EngineMesh.tag(7), body: [1])
      .signed { _ in [UInt8](repeating: 0, count: 64) }
    engine.receive(
      ReceivedPacket(
        packet: try Packet(decoding: packet.relayed(addingAge: 0, appending: nil, scope: .lane)),
        id: PacketID(high: 5, low: 0), slot: 2, link: 1, receivedAt: now), wallMilliseconds: nil, into: &actions)
    #expect(out(actions).sent.map(\.0) == [0b1011] && out(actions).sent.map(\.1) == [.everybody])
  }
}
