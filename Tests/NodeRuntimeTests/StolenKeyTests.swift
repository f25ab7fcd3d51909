import Bytes
import Links
import MemoryTransport
import Primitives
import Sessions
import Streams
import TestKit
import Testing
import Transports
import WireFormat

@testable import Identities
@testable import NodeRuntime

/// Ten days of traffic, and somebody who has recorded all of it and then gets every key there is.
@Suite struct StolenKeyTests {
  private static let days = 10
  private static let hour: UInt64 = 3_600_000

  private struct Recorded {
    var sentAt: UInt64
    var packet: Packet
    var recipient: Int
  }

  /// What the thief opens with these keys of a recipient.
  private func opens(_ recorded: Recorded, _ recipient: borrowing IdentityKeys) -> Bool {
    let keys = recipient.prekeyIDs.map { recipient.prekey(id: $0) }
    return keys.contains { key in
      (try? PersonalSeal.open(
        Array(recorded.packet.body), as: recipient.id, time: recorded.packet.header.time, random: .system
      ) { _ in key }) != nil
    }
  }

  /// The thief has more than the radio gives: every packet as the relays saw it, their outer seals off.
  @Test func threat05_tenDaysOfTrafficStayClosedToAThiefOfAllKeys() throws {
    let tap = SealTests.Tap()
    let mesh = Mesh(seed: 51, tap: { tap.hear($0) })
    for name in ["A", "C"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(30))
    try #require(mesh.isAcquainted())
    let sessions = [mesh.members[0].node.session, mesh.members[1].node.session]
    var recorded: [Recorded] = []
    // Every six hours the two meet for some minutes; between, their radios are off.
    for hours in stride(from: 0, to: Self.days * 24, by: 6) {
      mesh.run(for: .seconds(120)) { mesh.members.allSatisfy { $0.node.links.occupancy.value.links > 0 } }
      mesh.run(for: .seconds(10))
      for sender in 0...1 {
        let (session, other) = (sessions[sender], sessions[1 - sender].ownID)
        let sent = try mesh.call { try await session.send("canary \(sender) of hour \(hours)", to: .peer(other)) }
        let packet = try Packet(decoding: try #require(sent.packet, "hour \(hours) has a key to seal to"))
        recorded.append(
          Recorded(
            sentAt: mesh.simulation.time.source.wallMilliseconds(), packet: packet, recipient: 1 - sender))
      }
      mesh.run(for: .seconds(60))
      for member in mesh.members { member.transport.setPower(false) }
      mesh.run(for: .seconds(6 * 3_600 - 200))
      for member in mesh.members { member.transport.setPower(true) }
    }
    #expect(mesh.heard[1].count == recorded.count / 2 && mesh.heard[0].count == recorded.count / 2)
    #expect(!tap.contains(Array("canary".utf8)))
    let now = mesh.simulation.time.source.wallMilliseconds()
    let stored = mesh.storedKeys
    mesh.stop()

    var opened = 0
    for one in recorded {
      let bytes = stored[one.recipient == 0 ? "A" : "C"]
      let keys = try IdentityKeys(importing: bytes.rawSpan, random: .system)
      let isOpen = opens(one, keys)
      let age = now - one.sentAt
      if age > 72 * Self.hour { #expect(!isOpen, "\(age / Self.hour) hours old") }
      if age < 24 * Self.hour { #expect(isOpen, "a prekey that is kept does open: the thief is no fool") }
      if isOpen { opened += 1 }
      // Every key of the others, and the static key in the place of a prekey.
      for name in ["A", "C"] {
        let otherBytes = stored[name]
        let other = try IdentityKeys(importing: otherBytes.rawSpan, random: .system)
        let statics = OwnPrekey(key: other.sharedAgreementKey(), id: 1, sealUntil: .max)
        #expect(throws: PersonalSealError.self) {
          try PersonalSeal.open(
            Array(one.packet.body), as: keys.id, time: one.packet.header.time, random: .system
          ) { _ in statics }
        }
      }
    }
    #expect(opened > 0 && opened < recorded.count * 72 / (Self.days * 24) + 2)
    print(
      "seed 51: \(tap.frames.count) frames, \(recorded.count) personal packets, \(opened) of the last 72 hours open")
  }
}
