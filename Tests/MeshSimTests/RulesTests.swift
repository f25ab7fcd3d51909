import Routing
import Streams
import Testing
import WireFormat

@testable import MeshSim

/// The rules of others behave as their own descriptions say.
@Suite struct RulesTests {
  let now = MonotonicTime(nanoseconds: 1_000_000_000)

  func packet(_ number: UInt8, hops: UInt8 = 0) throws -> (Packet, PacketID) {
    let draft = try PacketDraft(kind: .personal, time: 1, origin: WireFormat.Tag(rawValue: 9), body: [number])
    var bytes = try draft.unsigned().encoded
    bytes[1] = hops
    return (try Packet(decoding: bytes), PacketID(high: UInt64(number), low: 1))
  }

  func received(_ number: UInt8, hops: UInt8 = 0, from slot: Int) throws -> ReceivedPacket {
    let (packet, id) = try packet(number, hops: hops)
    return ReceivedPacket(packet: packet, id: id, slot: slot, link: 0, receivedAt: now)
  }

  func node<Rules: NodeRules>(_ type: Rules.Type, opened: Int, accepted: Int = 0) -> Rules {
    var rules = Rules(NodeSeed(entry: 1, tag: WireFormat.Tag(rawValue: 1), key: (1, 2)))
    var actions = RuleActions()
    for slot in 0..<opened + accepted {
      rules.neighbourUp(
        slot, entry: UInt32(slot + 2), tag: Tag(rawValue: UInt64(slot + 2)), isCentral: slot < opened, now: now,
        into: &actions)
    }
    return rules
  }

  func offers(_ actions: RuleActions) -> [OutboundPacket] {
    actions.relay.compactMap { if case .offer(let packet) = $0 { packet } else { nil } }
  }

  @Test func bitchatClampsTheHopsOfDensePlaces() throws {
    // Left on the air after the relay, of seven at the origin.
    for (links, left) in [(2, 6), (3, 5), (5, 5), (6, 4), (9, 4)] {
      var rules = node(BitchatRules.self, opened: links)
      var actions = RuleActions()
      rules.receive(try received(1, from: 0), wallMilliseconds: 0, into: &actions)
      #expect(offers(actions).isEmpty)
      actions = RuleActions()
      rules.tick(now: now.advanced(by: .milliseconds(220)), into: &actions)
      #expect(offers(actions).map { 7 - Int($0.bytes[1]) } == [left], "\(links) links")
    }
  }

  @Test func bitchatWaitsWithinItsBounds() throws {
    for (links, range) in [(2, 10..<40), (4, 60..<150), (8, 80..<180), (12, 100..<220)] {
      var rules = node(BitchatRules.self, opened: links)
      var actions = RuleActions()
      // The first sync is behind us.
      rules.tick(now: now, into: &actions)
      for number in UInt8(1)...40 {
        actions = RuleActions()
        rules.receive(try received(number, from: 0), wallMilliseconds: 0, into: &actions)
        let wait = Int(rules.nextDeadline()?.milliseconds(since: now) ?? 0)
        #expect(range.contains(wait), "\(links) links, \(wait) ms")
        rules.tick(now: now.advanced(by: .milliseconds(220)), into: &actions)
      }
    }
  }

  @Test func bitchatGivesUpARelayForOneDuplicateOnlyWithMoreThanTwoLinks() throws {
    for (links, count) in [(2, 1), (3, 0)] {
      var rules = node(BitchatRules.self, opened: links)
      var actions = RuleActions()
      rules.receive(try received(1, from: 0), wallMilliseconds: 0, into: &actions)
      rules.receive(try received(1, from: 1), wallMilliseconds: 0, into: &actions)
      rules.tick(now: now.advanced(by: .milliseconds(220)), into: &actions)
      #expect(offers(actions).count == count)
    }
  }

  @Test func bitchatSendsToASubsetOfEachRole() throws {
    #expect([0, 1, 2, 3, 4, 5, 8, 9].map(BitchatRules.fanOut(links:)) == [0, 1, 2, 3, 3, 4, 4, 5])
    var rules = node(BitchatRules.self, opened: 8, accepted: 5)
    var actions = RuleActions()
    let (packet, id) = try packet(1)
    rules.originate(packet, id: id, now: now, into: &actions)
    let links = try #require(offers(actions).first).links
    #expect(LinkSet(bits: links.bits & 0xff).count == 4 && LinkSet(bits: links.bits >> 8).count == 4)
  }

  @Test func bitchatAnswersASyncWithWhatIsMissingAndNoFurther() throws {
    var (one, other) = (node(BitchatRules.self, opened: 1), node(BitchatRules.self, opened: 1))
    var actions = RuleActions()
    for number in UInt8(1)...3 {
      let (packet, id) = try packet(number)
      one.originate(packet, id: id, now: now, into: &actions)
      if number < 3 { other.originate(packet, id: id, now: now, into: &actions) }
    }
    actions = RuleActions()
    other.tick(now: now.advanced(by: .seconds(16)), into: &actions)
    let request = actions.control
    actions = RuleActions()
    for frame in request { one.control(frame.content, from: 0, now: now, into: &actions) }
    #expect(offers(actions).map(\.key) == [3] && offers(actions).first?.bytes[1] == 7)
  }

  @Test func aGolombSetHasAllThatIsInItAndFewOthers() {
    let keys = (1...355).map { UInt64($0) &* 0x9E37_79B9_7F4A_7C15 }
    let bytes = GolombSet.encode(keys)
    #expect(bytes.count <= 400)
    let set = GolombSet(decoding: bytes)
    #expect(keys.allSatisfy(set.contains))
    let wrong = (1_000..<11_000).count { set.contains(UInt64($0) &* 0x9E37_79B9_7F4A_7C15) }
    #expect((20...160).contains(wrong), "\(wrong) of 10,000")
  }

  @Test func plumtreePrunesOnADuplicateAndGraftsWhatDoesNotCome() throws {
    var rules = node(PlumtreeRules.self, opened: 3)
    var actions = RuleActions()
    rules.receive(try received(1, from: 0), wallMilliseconds: 0, into: &actions)
    #expect(offers(actions).map(\.links.bits) == [0b110])
    actions = RuleActions()
    rules.receive(try received(1, from: 1), wallMilliseconds: 0, into: &actions)
    #expect(actions.control.map(\.slot) == [1] && actions.control.map(\.content) == [[83]])
    // The next goes to the links that are left, and its key to the other, later.
    actions = RuleActions()
    rules.receive(try received(2, from: 0), wallMilliseconds: 0, into: &actions)
    #expect(offers(actions).map(\.links.bits) == [0b100] && actions.control.isEmpty)
    rules.tick(now: now.advanced(by: .milliseconds(200)), into: &actions)
    #expect(actions.control.map(\.slot) == [1] && actions.control.first?.content.count == 9)
    // A key whose packet does not come is asked for, over the link it came from.
    actions = RuleActions()
    rules.control([81, 0, 0, 0, 0, 0, 0, 0, 3], from: 1, now: now, into: &actions)
    rules.tick(now: now.advanced(by: .milliseconds(700)), into: &actions)
    #expect(actions.control.last?.slot == 1 && actions.control.last?.content == [82, 0, 0, 0, 0, 0, 0, 0, 3])
  }

  @Test func aGraftIsAnsweredWithThePacket() throws {
    var rules = node(PlumtreeRules.self, opened: 2)
    var actions = RuleActions()
    rules.receive(try received(5, from: 0), wallMilliseconds: 0, into: &actions)
    rules.control([83], from: 1, now: now, into: &actions)
    actions = RuleActions()
    rules.control([82, 0, 0, 0, 0, 0, 0, 0, 5], from: 1, now: now, into: &actions)
    #expect(offers(actions).map(\.links.bits) == [0b10])
    actions = RuleActions()
    rules.receive(try received(6, from: 0), wallMilliseconds: 0, into: &actions)
    #expect(offers(actions).map(\.links.bits) == [0b10])
  }

  @Test func aFloodGoesEverywhereButBack() throws {
    var rules = node(FloodRules.self, opened: 4)
    var actions = RuleActions()
    rules.receive(try received(1, hops: 200, from: 2), wallMilliseconds: 0, into: &actions)
    rules.receive(try received(1, from: 1), wallMilliseconds: 0, into: &actions)
    #expect(offers(actions).map(\.links.bits) == [0b1011])
  }
}
