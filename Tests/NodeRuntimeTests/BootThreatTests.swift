import Bytes
import Glibc
import Identities
import Links
import MemoryTransport
import Noise
import Primitives
import Sessions
import Storing
import Streams
import Telemetry
import TestKit
import Testing
import Transports
import WireFormat

@testable import NodeRuntime

/// What shows of a node from boot to boot, what it does without randomness, and what it never says in clear.
/// Names begin with the row of the threat.
@Suite struct BootThreatTests {
  // MARK: 14

  /// What differs between frames on the air: heads and counters, which are the same for everybody, are left out.
  private func changing(_ frame: [UInt8]) -> ArraySlice<UInt8> {
    switch frame.first {
    // A piece of the handshake: mark, sequence, last; in a hello also version, flags and frame size.
    case 0x80?: frame.dropFirst(frame.count == 15 ? 7 : 3)
    case 0x81?: []
    // Length and counter.
    default: frame.dropFirst(10)
    }
  }

  private func boot(seed: UInt64, keys: [String: [UInt8]]) throws -> (windows: Set<UInt32>, keys: [String: [UInt8]]) {
    let tap = SealTests.Tap()
    let mesh = Mesh(seed: seed, tap: { tap.hear($0) })
    for name in ["A", "B"] { try mesh.add(name, keys: keys[name]) }
    let listener = mesh.medium.makeTransport(name: "listener") { LinkID(number: 1_000_000) }
    let task = mesh.simulation.start { try await listener.run() }
    mesh.run(for: .milliseconds(1))
    mesh.medium.setReach("listener", "A", true)
    try mesh.call { try await listener.scan(true) }
    mesh.joinChain()
    mesh.run(for: .seconds(10))
    let (near, far) = (mesh.members[0].node.session, mesh.members[1].node.session.ownID)
    _ = try mesh.call { try await near.send("the same words", to: .peer(far)) }
    mesh.run(for: .seconds(10))
    let hint = try mesh.call { () -> UInt32? in
      for await sighting in listener.sightings { return sighting.advertisement?.hint }
      return nil
    }
    var windows: Set<UInt32> = [try #require(hint)]
    for frame in tap.frames {
      let bytes = Array(changing(frame))
      for start in 0..<max(0, bytes.count - 3) {
        windows.insert(bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) })
      }
    }
    let stored = ["A": mesh.storedKeys["A"], "B": mesh.storedKeys["B"]]
    task.cancel()
    mesh.stop()
    return (windows, stored)
  }

  @Test func threat14_twoBootsOfOneNodeShareNothingOnTheAir() throws {
    let first = try boot(seed: 141, keys: [:])
    let second = try boot(seed: 142, keys: first.keys)
    #expect(first.keys == second.keys, "it is the same node")
    #expect(first.windows.count > 1_500 && second.windows.count > 1_500)
    let both = first.windows.intersection(second.windows)
    #expect(both.isEmpty, "\(both.map { String($0, radix: 16) })")
    print("seeds 141, 142: \(first.windows.count) and \(second.windows.count) strings of 4 bytes, none in both")
  }

  // MARK: 20

  /// The places where a packet is made, in every module and program.
  @Test func threat20_noCodeSendsAPersonalMessageUnsealed() throws {
    let root = String(#filePath.dropLast("/Tests/NodeRuntimeTests/BootThreatTests.swift".count))
    let list = "/tmp/rc-drafts-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    defer { unsafe unlink(list) }
    _ = try ProcessThreatTests.run(
      "cd '\(root)' && grep -rn -A2 'PacketDraft(' Modules Apps --include=*.swift > \(list)")
    let text = String(decoding: ProcessThreatTests.contents(list), as: UTF8.self)
    try #require(!text.isEmpty, "the sources lie where the tests were built from")
    var found: [String] = []
    for entry in text.split(separator: "--\n", omittingEmptySubsequences: true) {
      guard let kind = entry.firstMatch(of: /kind: (\.?\w+)/)?.1, let file = entry.firstMatch(of: /([\w+]+)\.swift/)?.1
      else { continue }
      found.append("\(file) \(kind)")
    }
    #expect(
      found.sorted() == [
        "Session .card", "Session+Sealing .public", "Session+Sealing kind", "Session+Sending .presence",
      ],
      "a packet is made in a new place: is what it carries sealed?")
    let sealing = try #require(text.split(separator: "--\n").first { $0.contains("kind: kind") })
    #expect(sealing.contains("body: body"))
    let source = String(
      decoding: ProcessThreatTests.contents(root + "/Modules/Sessions/Session+Sealing.swift"), as: UTF8.self)
    #expect(source.contains("let body = try PersonalSeal.seal("))
  }

  @Test func threat20_personalMessageThatComesUnsealedIsNotShown() throws {
    let mesh = Mesh(seed: 201)
    try mesh.add("A")
    mesh.run(for: .seconds(1))
    let session = mesh.members[0].node.session
    let mallory = try Adversary("mallory", on: mesh)
    let link = try mallory.join("A")
    let wall = mesh.simulation.time.source.wallMilliseconds()
    let content = MessageContent(id: MessageID(high: 1, low: 1), substance: .text("in clear")).encoded
    for kind in [PacketKind.personal, .receipt, .room] {
      let draft = try PacketDraft(
        kind: kind, time: wall, origin: Tag(rawValue: mallory.card.id.tag),
        destination: Tag(rawValue: session.ownID.tag), body: content)
      try link.send(packet: try draft.unsigned().encoded)
      try link.send(packet: try draft.signed { try mallory.keys.sign(.packetSignature, $0) }.encoded)
    }
    mesh.run(for: .seconds(2))
    #expect(mesh.heard[0].isEmpty)
    #expect(session.counters[.sealRefused] + session.counters[.sealMalformed] == 4)
    mesh.stop()
    mallory.stop()
  }

  /// A hello of another version, or one that was made poorer on the way, is no way to a weaker link.
  @Test func threat20_anotherVersionIsRefused() throws {
    let mesh = Mesh(seed: 202)
    try mesh.add("A")
    mesh.run(for: .seconds(1))
    let mallory = try Adversary("mallory", on: mesh)
    let links = mesh.members[0].node.links
    for version in [0, 2, 255] as [UInt8] {
      let before = links.counters[.handshakesRefused]
      let link = try mallory.open("A")
      _ = link.send([0x80, 0, 1, version, 0, 0, 244] + [UInt8](repeating: 1, count: 8))
      mesh.run(for: .seconds(1))
      #expect(links.counters[.handshakesRefused] == before + 1 && link.end != nil, "version \(version)")
    }
    mesh.stop()
    mallory.stop()
  }

  // MARK: 23

  @Test func threat23_withoutRandomnessNothingStartsAndNothingIsKept() async throws {
    let directory = "/tmp/rc-random-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    try #require(unsafe mkdir(directory, 0o700) == 0)
    defer { _ = try? ProcessThreatTests.run("rm -r \(directory)") }
    let broken = RandomSource { _ in false }
    let store = try PlainStore(path: directory + "/plain.db")
    await #expect(throws: NodeIdentityError.primitiveFailed) {
      _ = try await NodeIdentity.load(from: store, mayBegin: true, random: broken, wall: 1_767_225_600_000)
    }
    #expect(try await store.get(NodeIdentity.keysName) == nil)
    // With keys from a good day it does not start either.
    let keys = try IdentityKeys(generatedFrom: .system, now: 1_767_225_600_000)
    let environment = Node.Environment(
      transports: [], store: MemoryStore(), saveIdentity: { _, _ throws(SessionStoreError) in },
      time: ManualTime().source, random: broken, log: .discarding, isClockSynchronised: { true })
    let profile = Session.Profile(name: try PeerName("A"), icon: .none, capabilities: [])
    var hasStarted = false
    do {
      _ = try Node(keys: keys, cardSequence: 1, profile: profile, environment: environment)
      hasStarted = true
    } catch { #expect(error as? PrimitiveError == .noRandomness) }
    #expect(!hasStarted)
  }

  @Test func threat23_twoFirstRunsFromOneImageDiffer() async throws {
    var exported: [[UInt8]] = []
    for _ in 0..<2 {
      let directory = "/tmp/rc-first-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
      try #require(unsafe mkdir(directory, 0o700) == 0)
      let store = try PlainStore(path: directory + "/plain.db")
      let identity = try await NodeIdentity.load(from: store, mayBegin: true, random: .system, wall: 1_767_225_600_000)
      let isNew = identity.isNew
      #expect(isNew)
      exported.append(try #require(try await store.get(NodeIdentity.keysName)))
      _ = try ProcessThreatTests.run("rm -r \(directory)")
    }
    for range in [2..<34, 34..<66, 87..<119] {
      #expect(exported[0][range] != exported[1][range], "scalar at \(range)")
    }
  }

  @Test func threat19_lostKeysAreNoReasonToBecomeSomebodyElse() async throws {
    let directory = "/tmp/rc-lost-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    try #require(unsafe mkdir(directory, 0o700) == 0)
    defer { _ = try? ProcessThreatTests.run("rm -r \(directory)") }
    let store = try PlainStore(path: directory + "/plain.db")
    await #expect(throws: NodeIdentityError.missing) {
      _ = try await NodeIdentity.load(from: store, mayBegin: false, random: .system, wall: 1_767_225_600_000)
    }
    #expect(try await store.get(NodeIdentity.keysName) == nil)
  }

  // MARK: 9

  /// A neighbour that seals, as it should, what it should not.
  @Test func threat09_aThousandSealedBombsLeaveTheLinkAsItWas() throws {
    let mesh = Mesh(seed: 91)
    for name in ["A", "B"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(20))
    let (session, links) = (mesh.members[0].node.session, mesh.members[0].node.links)
    let mallory = try Adversary("mallory", on: mesh)
    let link = try mallory.join("A")
    let card = try mesh.call { await session.ownCard }
    // A fixed block of deflate whose every thirteen bytes yield two thousand zeros: 62 kB out of 392 bytes.
    let period: [UInt8] = [0x05, 0xA3, 0x60, 0x14, 0x8C, 0x82, 0x51, 0x30, 0x0A, 0x46, 0xC1, 0x28, 0x18]
    let stream = [0x63, 0x18] + Array(repeatElement(period, count: 29).joined()) + period.dropLast() + [0, 0]
    var payload = [0x80 | UInt8(stream.count >> 8), UInt8(stream.count & 0xFF)] + stream
    payload += [UInt8](repeating: 0, count: 480 - payload.count)
    for number in 0..<1_000 as Range<UInt64> {
      let wall = mesh.simulation.time.source.wallMilliseconds()
      var prologue = Array(DomainLabel.personal.text.description.utf8) + card.id.bytes
      var body: [UInt8] = [1]
      for shift in [24, 16, 8, 0] as [UInt32] { body.append(UInt8(truncatingIfNeeded: card.card.prekey.id >> shift)) }
      prologue += body[1...]
      for shift in [40, 32, 24, 16, 8, 0] as [UInt64] { prologue.append(UInt8(truncatingIfNeeded: wall >> shift)) }
      var state = try HandshakeState<P256AgreementKey, AESGCM>(
        .X, role: .initiator, prologue: prologue.rawSpan, staticKey: mallory.keys.sharedAgreementKey(),
        remoteStatic: card.card.prekey.key, random: .system)
      try state.writeMessage(payload.rawSpan, appendingTo: &body)
      let packet = try PacketDraft(
        kind: .personal, time: wall, origin: Tag(rawValue: mallory.card.id.tag),
        destination: Tag(rawValue: card.id.tag), body: body
      ).unsigned()
      try link.send(packet: packet.encoded)
      mesh.run(for: .milliseconds(20))
      if number % 10 == 0 { link.read() }
    }
    mesh.run(for: .seconds(5))
    link.read()
    #expect(session.counters[.sealMalformed] == 1_000)
    #expect(links.counters[.framesUnopened] == 0 && link.link.end == nil)
    let other = mesh.members[1].node.session
    _ = try mesh.call { try await other.send("still here", to: .peer(card.id)) }
    mesh.run(for: .seconds(5))
    #expect(mesh.heard[0] == ["still here": 1])
    mesh.stop()
    mallory.stop()
  }
}
