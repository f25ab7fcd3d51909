import Identities
import MemoryTransport
import Primitives
import Sessions
import Streams
import Telemetry
import TestKit
import Testing
import Transports

@testable import Links
@testable import NodeRuntime

/// Whoever wants to stall a node, or take over a link of it, with handshakes. Names begin with the row of the threat.
@Suite struct HandshakeThreatTests {
  private func pair(seed: UInt64) throws -> Mesh {
    let mesh = Mesh(seed: seed)
    for name in ["A", "B"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    try #require(mesh.isAcquainted())
    return mesh
  }

  /// A first message that nothing tells from an honest one: whoever gets it has two agreements to make.
  private func firstMessage(_ adversary: Adversary, _ mesh: Mesh) throws -> [UInt8] {
    let seal = LinkSeal(
      agreement: adversary.keys.sharedAgreementKey(), ownCard: Latest(adversary.card), random: .system,
      time: mesh.simulation.time.source)
    return try mesh.call {
      try await seal.handshake(role: .initiator, hellos: []).start().messages[0]
    }
  }

  /// Says something every second of a minute while `attack` is made, and counts what arrives and the half-open links.
  private func minute(_ mesh: Mesh, attack: (Int) throws -> Void) throws -> (heard: Int, halfOpen: Int) {
    let (near, links) = (mesh.members[0].node.session, mesh.members[1].node.links)
    var most = 0
    for second in 0..<60 {
      try attack(second)
      _ = try mesh.call { try await near.send("second \(second)", to: .everyone) }
      for _ in 0..<4 {
        most = max(most, try mesh.call { await links.table.halfOpenCount })
        mesh.run(for: .milliseconds(250))
      }
    }
    return (mesh.heard[1].values.count { $0 == 1 }, most)
  }

  @Test(arguments: [true, false])
  func threat13_firstMessagesFromOneAddressStallNobody(areForged: Bool) throws {
    let mesh = try pair(seed: 131)
    let links = mesh.members[1].node.links
    let before = try mesh.call { await links.records().first { $0.peer != nil }?.link }
    let mallory = try Adversary("mallory", on: mesh)
    let good = try firstMessage(mallory, mesh)
    let (heard, halfOpen) = try minute(mesh) { second in
      guard let link = try? mallory.open("B") else { return }
      mallory.greet(link, with: areForged ? [UInt8](repeating: UInt8(second), count: good.count) : good)
    }
    #expect(heard == 60, "every message arrives once")
    #expect(halfOpen <= LinksLimits.halfOpen)
    #expect(links.counters[.handshakesOverRate] == 50, "ten of sixty are looked at")
    #expect(try mesh.call { await links.records().first { $0.peer != nil }?.link } == before, "the link is the old one")
    mesh.stop()
    mallory.stop()
  }

  @Test func threat13_firstMessagesFromManyAddressesStallNobody() throws {
    let mesh = try pair(seed: 132)
    let links = mesh.members[1].node.links
    var crowd: [Adversary] = []
    for number in 0..<60 { crowd.append(try Adversary("m\(number)", on: mesh)) }
    let good = try firstMessage(crowd[0], mesh)
    let (heard, halfOpen) = try minute(mesh) { second in
      guard let link = try? crowd[second].open("B") else { return }
      crowd[second].greet(link, with: good)
    }
    #expect(heard == 60, "every message arrives once")
    #expect(halfOpen == LinksLimits.halfOpen, "the table was full, and not fuller")
    mesh.run(for: LinksLimits.handshakeTimeout)
    #expect(try mesh.call { await links.table.halfOpenCount } == 0)
    mesh.stop()
    crowd.forEach { $0.stop() }
  }

  /// Who borrows a neighbour's address gets neither its link nor its place, and uses up only the borrowed share.
  @Test func threat13_oldLinkLivesUntilANewOneHasProvedItself() throws {
    let mesh = try pair(seed: 133)
    let (near, links) = (mesh.members[0].node.session, mesh.members[1].node.links)
    let honest = try #require(try mesh.call { await links.records().first { $0.peer == near.ownID }?.link })
    let thief = try Adversary("thief", on: mesh, radioName: "A")
    let good = try firstMessage(thief, mesh)
    let (heard, halfOpen) = try minute(mesh) { _ in
      guard let link = try? thief.open("B") else { return }
      thief.greet(link, with: good)
    }
    #expect(heard == 60 && halfOpen <= LinksLimits.halfOpen)
    let records = try mesh.call { await links.records() }
    #expect(records.contains { $0.link == honest && $0.isActive && $0.peer == near.ownID })
    // With a handshake of its own it becomes a neighbour of its own, and A keeps its link.
    mesh.run(for: .seconds(61))
    let joined = try thief.join("B")
    mesh.run(for: .seconds(1))
    joined.read()
    let after = try mesh.call { await links.records() }
    #expect(after.contains { $0.link == honest && $0.isActive && $0.peer == near.ownID })
    #expect(after.contains { $0.peer == thief.card.id })
    mesh.stop()
    thief.stop()
  }
}
