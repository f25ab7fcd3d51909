import Bytes
import Identities
import Links
import MemoryTransport
import OpenLinks
import Primitives
import Sessions
import Streams
import Telemetry
import TestKit
import Testing

@testable import NodeRuntime

/// Seals on whole nodes: what a tap hears, receipts, keys that are out of date, closed communities.
@Suite struct SealTests {
  /// Every byte that was on any link.
  final class Tap: Sendable {
    private let heard = Protected<[[UInt8]]>([])
    func hear(_ frame: [UInt8]) { heard.withLock { $0.append(frame) } }
    var frames: [[UInt8]] { heard.withLock { $0 } }

    func contains(_ needle: some Collection<UInt8>) -> Bool {
      let needle = Array(needle)
      return frames.contains { frame in
        frame.count >= needle.count
          && (0...frame.count - needle.count).contains { frame[$0..<$0 + needle.count].elementsEqual(needle) }
      }
    }
  }

  private func conversation(_ mesh: Mesh) throws {
    for name in ["alice-canary", "relay-canary", "robert-canary"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    try #require(mesh.isAcquainted())
    let (alice, bob) = (mesh.members[0].node.session, mesh.members[2].node.session)
    _ = try mesh.call { try await alice.send("canary in public", to: .everyone) }
    _ = try mesh.call { try await alice.send("canary in private", to: .peer(bob.ownID)) }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[2] == ["canary in public": 1, "canary in private": 1])
  }

  private func secrets(_ mesh: Mesh) throws -> [(what: String, bytes: [UInt8])] {
    var secrets: [(String, [UInt8])] = [
      ("public text", Array("canary in public".utf8)), ("personal text", Array("canary in private".utf8)),
    ]
    for member in mesh.members {
      let card = try mesh.call { await member.node.session.ownCard }
      secrets.append(("name", Array(card.card.name.text.utf8.prefix(8))))
      secrets.append(("signing key", Array(card.card.signingKey.bytes.suffix(32).prefix(8))))
      secrets.append(("agreement key", Array(card.card.agreementKey.bytes.suffix(32).prefix(8))))
      secrets.append(("prekey", Array(card.card.prekey.key.bytes.suffix(32).prefix(8))))
      secrets.append(("PeerID", Array(card.id.bytes.prefix(8))))
    }
    return secrets
  }

  @Test func threat01_eavesdropperReadsNothing() throws {
    let tap = Tap()
    let mesh = Mesh(seed: 31, tap: { tap.hear($0) })
    try conversation(mesh)
    for (what, bytes) in try secrets(mesh) { #expect(!tap.contains(bytes), "the air carries a \(what)") }
    #expect(tap.frames.count > 50)
    mesh.stop()
  }

  @Test func theTapWouldHearOpenLinks() throws {
    let tap = Tap()
    let mesh = Mesh(seed: 31, security: { OpenLinks(ownCard: $0) }, tap: { tap.hear($0) })
    try conversation(mesh)
    for (what, bytes) in try secrets(mesh) {
      #expect(tap.contains(bytes) == (what != "personal text"), "the tap is deaf to a \(what)")
    }
    mesh.stop()
  }

  @Test func recipientsReceiptsComeBack() throws {
    let mesh = Mesh(seed: 32)
    for name in ["A", "B", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    let (near, far) = (mesh.members[0].node.session, mesh.members[2].node.session)
    let sent = try mesh.call { try await near.send("did you get it?", to: .peer(far.ownID)) }
    mesh.run(for: .seconds(10))
    #expect(try mesh.call { try await near.message(sent.id)?.state } == .delivered)
    try mesh.call { try await far.markRead([sent.id]) }
    mesh.run(for: .seconds(10))
    #expect(try mesh.call { try await near.message(sent.id)?.state } == .read)
    mesh.stop()
  }

  @Test func messageWaitsForAFreshKeyAndGoesOutWhenOneComes() throws {
    let mesh = Mesh(seed: 33)
    for name in ["A", "B"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let (near, far) = (mesh.members[0].node.session, mesh.members[1].node.session.ownID)
    mesh.medium.setReach("A", "B", false)
    mesh.run(for: .seconds(49 * 3_600))
    let sent = try mesh.call { try await near.send("patience", to: .peer(far)) }
    #expect(sent.state == .waiting && sent.packet == nil)
    mesh.run(for: .seconds(60))
    #expect(mesh.heard[1].isEmpty)
    mesh.medium.setReach("A", "B", true)
    mesh.run(for: .seconds(300)) { mesh.heard[1]["patience"] != nil }
    mesh.run(for: .seconds(10))
    #expect(mesh.heard[1] == ["patience": 1])
    #expect(try mesh.call { try await near.message(sent.id)?.state } == .delivered)
    mesh.stop()
  }

  @Test func threat14_strangerLearnsNothingOfAClosedCommunity() throws {
    let tap = Tap()
    let mesh = Mesh(seed: 34, tap: { tap.hear($0) })
    let key = [UInt8](repeating: 7, count: 32)
    try mesh.add("member-one", communityKey: key)
    try mesh.add("member-two", communityKey: key)
    try mesh.add("stranger")
    try mesh.add("other", communityKey: [UInt8](repeating: 8, count: 32))
    for one in mesh.members.indices {
      for other in mesh.members.indices where one < other {
        mesh.medium.setReach(mesh.members[one].name, mesh.members[other].name, true)
      }
    }
    mesh.run(for: .seconds(120))
    let known = try mesh.members.map { member in
      try mesh.call { await member.node.session.peers().map(\.card.card.name.text) }
    }
    #expect(known == [["member-two"], ["member-one"], [], []])
    #expect(mesh.members[0].node.links.counters[.handshakesRefused] > 0)
    mesh.stop()
  }

  @Test func linkKeysChangeAndTrafficGoesOn() throws {
    let mesh = Mesh(seed: 35)
    for name in ["A", "B"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let near = mesh.members[0].node.session
    for hour in 0..<30 {
      _ = try mesh.call { try await near.send("hour \(hour)", to: .everyone) }
      mesh.run(for: .seconds(3_600))
    }
    #expect(mesh.heard[1].count == 30 && mesh.heard[1].values.allSatisfy { $0 == 1 })
    #expect(mesh.members[0].node.links.counters[.framesUnopened] == 0)
    #expect(mesh.members[0].node.links.counters[.established] >= 2, "after a day the peers met with fresh keys")
    mesh.stop()
  }
}
