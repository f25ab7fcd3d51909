import Bytes
import Identities
import Links
import MemoryTransport
import Primitives
import Relaying
import Routing
import Sessions
import Streams
import Telemetry
import TestKit
import Testing
import WireFormat

@testable import NodeRuntime

/// Neighbours that hide packets, send them too far, or too many. Names begin with the row of the threat.
@Suite struct FloodThreatTests {
  /// What an adversary has of a packet before its victim has it, and what it makes of it.
  enum Poison: CaseIterable {
    case otherBody, otherSignature, otherTime, raisedTimeToLive, lastHop, oneHopMore, oldAge, longRoute, falsePieces
    case falseAcknowledgement

    func strike(_ link: AdversaryLink, _ packet: Packet, key: UInt64) throws {
      var bytes = packet.encoded
      let identified = packet.header.identifiedOffset
      switch self {
      case .otherBody: bytes[packet.header.bodyRange.lowerBound + 20] ^= 1
      case .otherSignature: bytes[bytes.count - 1] ^= 1
      case .otherTime: bytes[identified + 8] ^= 1
      case .raisedTimeToLive: bytes[identified + 2] = 255
      case .lastHop: bytes[1] = packet.header.kind.maximumTimeToLive - 1
      case .oneHopMore: bytes[1] = 1
      case .oldAge:
        let age = UInt32(packet.header.kind.lifetime - 1_000)
        for index in 0..<4 { bytes[2 + index] = UInt8(truncatingIfNeeded: age >> (24 - 8 * UInt32(index))) }
      case .longRoute:
        bytes[6] = 15
        bytes.insert(contentsOf: [UInt8](repeating: 9, count: 60), at: PacketHeader.routeOffset)
      case .falsePieces:
        for index in 0..<3 {
          var content: [UInt8] = []
          LinkFrame.appendFragment(
            try FragmentHead(key: key, index: index, count: 4), data: [UInt8](repeating: 7, count: 60).rawSpan,
            to: &content)
          link.send(content)
        }
        return
      case .falseAcknowledgement:
        link.send(LinkFrame.acknowledgment([key]).encoded)
        return
      }
      try link.send(packet: bytes)
    }
  }

  /// B hears of a packet from an adversary first, and from its author later.
  @Test(arguments: Poison.allCases, [true, false])
  func threat12_poisonedPacketDoesNotHideTheRealOne(poison: Poison, isPersonal: Bool) throws {
    let mesh = Mesh(seed: 121)
    for name in ["A", "B", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    try #require(mesh.isAcquainted())
    let (near, far) = (mesh.members[0].node.session, mesh.members[2].node.session.ownID)
    let mallory = try Adversary("mallory", on: mesh)
    let link = try mallory.join("B")
    mesh.medium.setReach("A", "B", false)
    mesh.medium.setReach("B", "C", false)
    mesh.run(for: .seconds(1))
    let sent = try mesh.call { try await near.send("the real one", to: isPersonal ? .peer(far) : .everyone) }
    let packet = try Packet(decoding: try #require(sent.packet))
    var identifier = try PacketIdentifier()
    let early = mesh.members[1].node.links.counters[.framesEarly]
    try poison.strike(link, packet, key: try identifier.id(of: packet).key)
    mesh.run(for: .seconds(5))
    link.read()
    let isGenuine = [.lastHop, .oneHopMore, .longRoute].contains(poison)
    #expect(mesh.heard[1].count == (isGenuine && !isPersonal ? 1 : 0), "\(poison) has reached B")
    #expect(mesh.members[1].node.links.counters[.framesEarly] == early)
    mesh.medium.setReach("A", "B", true)
    mesh.run(for: .seconds(10))
    mesh.medium.setReach("B", "C", true)
    mesh.run(for: .seconds(60))
    #expect(mesh.heard[2] == ["the real one": 1], "\(poison)")
    mesh.stop()
    mallory.stop()
  }

  @Test func threat12_timeToLiveOf255DiesAtTheClamp() throws {
    let length = 12
    let mesh = Mesh(seed: 122)
    for number in 0..<length { try mesh.add("n\(number)") }
    mesh.joinChain()
    mesh.run(for: .seconds(60))
    let mallory = try Adversary("mallory", on: mesh)
    let link = try mallory.join("n0")
    let wall = mesh.simulation.time.source.wallMilliseconds()
    let draft = try PacketDraft(
      kind: .presence, time: wall, origin: Tag(rawValue: mallory.keys.id.tag), body: [0, 0, 0, 0, 0, 0, 0, 1])
    let honest = try draft.signed { try mallory.keys.sign(.packetSignature, $0) }
    var raised = honest.encoded
    raised[honest.header.identifiedOffset + 2] = 255
    let packet = try Packet(decoding: raised)
    #expect(packet.header.timeToLive == 255)
    let before = mesh.members.map { member in member.node.relay.counters[.accepted] }
    try link.send(packet: raised)
    mesh.run(for: .seconds(1))
    let reached = zip(mesh.members, before).map { $0.node.relay.counters[.accepted] > $1 }
    #expect(reached == (0..<length).map { $0 < Int(PacketKind.presence.maximumTimeToLive) })
    mesh.stop()
    mallory.stop()
  }

  /// The medium carries whatever it is given, so this shows what budgets, tables and queues cost; what a link that is
  /// full does is shown with the queue itself, in `PacketQueueTests`.
  ///
  /// Milliseconds of virtual time from saying to hearing, over two hops of 20 ms, for a message each half second.
  private func latencies(isFlooded: Bool, kind: PacketKind) throws -> (all: [Double], flooded: Int) {
    let mesh = Mesh(seed: 123)
    mesh.medium.setConditions(MemoryConditions(delay: .milliseconds(20)))
    for name in ["A", "B", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    try #require(mesh.isAcquainted())
    let near = mesh.members[0].node.session
    let mallory = try Adversary("mallory", on: mesh)
    let link = try mallory.join("B")
    let time = mesh.simulation.time
    var generator = SeededGenerator(seed: 124)
    var all: [Double] = []
    var flooded = 0
    for number in 0..<40 {
      let start = time.now
      _ = try mesh.call { try await near.send("message \(number)", to: .everyone) }
      for step in 0..<50 {
        // As much as a link of this transport is said to carry: a radio takes no more from one neighbour.
        var owed = isFlooded ? 60_000 / 100 : 0
        while owed > 0 {
          let body = (0..<60).map { _ in UInt8.random(in: 0...255, using: &generator) }
          let junk = try PacketDraft(
            kind: kind, time: time.source.wallMilliseconds(), origin: Tag(rawValue: generator.next()), body: body
          ).signed { _ in [UInt8](repeating: 1, count: 64) }
          try link.send(packet: junk.encoded)
          owed -= junk.encoded.count
          flooded += 1
        }
        let end = start.advanced(by: .milliseconds(Int64(step + 1) * 10))
        while time.now < end {
          let isHeard = mesh.heard[2]["message \(number)"] != nil
          if mesh.run(
            for: .nanoseconds(Int64(end.nanoseconds - time.now.nanoseconds)),
            until: {
              !isHeard && mesh.heard[2]["message \(number)"] != nil
            }), all.count == number
          {
            all.append(Double(time.now.nanoseconds - start.nanoseconds) / 1e6)
          }
        }
        link.read()
      }
    }
    #expect(mesh.heard[2].count == 40)
    mesh.stop()
    mallory.stop()
    return (all, flooded)
  }

  @Test(arguments: [PacketKind.public, .urgent])
  func threat12_floodingNeighbourCostsOthersLessThanATenth(kind: PacketKind) throws {
    let (quiet, _) = try latencies(isFlooded: false, kind: kind)
    let (loud, flooded) = try latencies(isFlooded: true, kind: kind)
    try #require(quiet.count == 40 && loud.count == 40)
    let (mean, meanLoud) = (quiet.reduce(0, +) / 40, loud.reduce(0, +) / 40)
    print(
      "seed 123: mean \(mean) ms without, \(meanLoud) ms with \(flooded) packets; longest \(quiet.max()!), \(loud.max()!)"
    )
    #expect(meanLoud < 1.1 * mean && loud.max()! < 1.1 * quiet.max()!)
  }
}
