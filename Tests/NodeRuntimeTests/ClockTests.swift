import Archive
import Identities
import MemoryTransport
import Relaying
import Sessions
import Storing
import Streams
import Telemetry
import TestKit
import Testing

@testable import NodeRuntime

/// Nobody's clock is assumed to be right: not ours, and not that of others.
@Suite struct ClockTests {
  /// The right time is 2026; one node starts in 1970 and one in 2099, and neither knows better.
  private static let right: UInt64 = 1_767_225_600_000 + 40 * 86_400_000
  private static var year1970: Int64 { -Int64(right) }
  private static let year2099: Int64 = 4_070_908_800_000 - Int64(right)

  private func send(_ mesh: Mesh, _ text: String, from: Int, to: Int) throws -> StoredMessage {
    let (session, peer) = (mesh.members[from].node.session, mesh.members[to].node.session.ownID)
    return try mesh.call { try await session.send(text, to: .peer(peer)) }
  }

  private func state(_ mesh: Mesh, _ message: StoredMessage, of index: Int) throws -> MessageState? {
    let (session, id) = (mesh.members[index].node.session, message.id)
    return try mesh.call { try await session.message(id)?.state }
  }

  @Test func nodesOfAnyClockTalkToEachOther() throws {
    let mesh = Mesh(seed: 71, wallMilliseconds: Self.right)
    defer { mesh.stop() }
    try mesh.add("past", clock: WallClock(offset: Self.year1970))
    try mesh.add("right")
    try mesh.add("future", clock: WallClock(offset: Self.year2099))
    mesh.joinChain()
    mesh.run(for: .seconds(60))
    try #require(mesh.isAcquainted())
    for from in 0..<3 {
      let session = mesh.members[from].node.session
      _ = try mesh.call { try await session.send("all of you, from \(from)", to: .everyone) }
      for to in 0..<3 where to != from {
        let sent = try send(mesh, "\(from) to \(to)", from: from, to: to)
        mesh.run(for: .seconds(20))
        #expect(try state(mesh, sent, of: from) == .delivered, "\(from) to \(to)")
      }
    }
    for index in 0..<3 {
      #expect(mesh.heard[index].count == 4 && mesh.heard[index].values.allSatisfy { $0 == 1 }, "\(mesh.heard[index])")
    }
  }

  @Test(arguments: [ClockTests.year1970, ClockTests.year2099])
  func messageForAnAbsentPeerExpiresByTheTimeThatHasPassed(offset: Int64) throws {
    let mesh = Mesh(seed: 72, wallMilliseconds: Self.right)
    defer { mesh.stop() }
    try mesh.add("sender", clock: WallClock(offset: offset))
    try mesh.add("relay")
    try mesh.add("absent")
    mesh.joinChain()
    mesh.run(for: .seconds(60))
    try #require(mesh.isAcquainted())
    mesh.medium.setReach("relay", "absent", false)
    mesh.run(for: .seconds(60))
    let early = try send(mesh, "early", from: 0, to: 2)
    mesh.run(for: .seconds(4 * 3_600))
    let late = try send(mesh, "late", from: 0, to: 2)
    mesh.run(for: .seconds(45 * 3_600))
    #expect(try state(mesh, early, of: 0) == .expired, "after 49 hours")
    #expect(try state(mesh, late, of: 0) == .sent, "after 45 hours")
    mesh.medium.setReach("relay", "absent", true)
    mesh.run(for: .seconds(120))
    #expect(mesh.heard[2] == ["late": 1])
  }

  @Test func timeThatIsSetNeitherEndsNorLosesWhatIsUnderWay() throws {
    let mesh = Mesh(seed: 73, wallMilliseconds: Self.right)
    defer { mesh.stop() }
    let clock = WallClock(offset: Self.year1970)
    try mesh.add("past", clock: clock)
    try mesh.add("right")
    try mesh.add("far")
    mesh.joinChain()
    mesh.run(for: .seconds(60))
    try #require(mesh.isAcquainted())
    mesh.medium.setReach("right", "far", false)
    mesh.run(for: .seconds(60))
    let there = try send(mesh, "there", from: 0, to: 2)
    let back = try send(mesh, "back", from: 2, to: 0)
    clock.synchronise()
    mesh.run(for: .seconds(3_600))
    #expect(try state(mesh, there, of: 0) == .sent)
    mesh.medium.setReach("right", "far", true)
    mesh.run(for: .seconds(120))
    #expect(try state(mesh, there, of: 0) == .delivered)
    #expect(try state(mesh, back, of: 2) == .delivered, "sealed to a prekey of before the clock was set")
    let card = try mesh.call { [session = mesh.members[0].node.session] in await session.ownCard.card }
    #expect(card.issued > 1_767_225_600_000, "the card says the new time")
  }

  @Test func timeNeverGoesBackOverARestart() async throws {
    let path = "/tmp/relaychat-clock-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
    let state = try StateDirectory(path: path)
    let plain = try PlainStore(path: state.plainPath)
    func run(wall: UInt64, for duration: Duration, isSynchronised: Bool) async throws -> (start: UInt64, end: UInt64) {
      let time = ManualTime(wallMilliseconds: wall)
      let log = Log(label: "clock", threshold: .error, sink: MemoryLogSink())
      let clock = try await FlooredClock.load(
        from: plain, system: time.source, isSynchronised: { isSynchronised }, log: log)
      let start = clock.time.wallMilliseconds()
      time.advance(by: duration)
      await withDiscardingTaskGroup { group in
        group.addTask { await clock.run() }
        group.cancelAll()
      }
      return (start, clock.time.wallMilliseconds())
    }
    let first = try await run(wall: Self.right, for: .seconds(1_000), isSynchronised: true)
    #expect(first.end == first.start + 1_000_000)
    let second = try await run(wall: 0, for: .seconds(50), isSynchronised: false)
    #expect(second.start == first.end && second.end == second.start + 50_000, "a start in 1970 goes on where we were")
    let third = try await run(wall: 4_070_908_800_000, for: .seconds(1), isSynchronised: false)
    #expect(third.start > second.end, "a start in 2099 cannot be told from the truth")
    let fourth = try await run(wall: Self.right + 5_000_000, for: .seconds(1), isSynchronised: true)
    #expect(fourth.start < third.start, "and does no harm once the clock is known to be right")
    let fifth = try await run(wall: 0, for: .seconds(1), isSynchronised: false)
    #expect(fifth.start == fourth.end)
  }

  @Test func floorIsLowerBoundOnly() {
    let start = MonotonicTime(nanoseconds: 5_000_000_000)
    let floor = ClockFloor(floor: 1_000_000, startedAt: start)
    let later = start.advanced(by: .seconds(3))
    #expect(floor.wallMilliseconds(system: 0, now: start, isSynchronised: false) == 1_000_000)
    #expect(floor.wallMilliseconds(system: 0, now: later, isSynchronised: false) == 1_003_000)
    #expect(floor.wallMilliseconds(system: 2_000_000, now: later, isSynchronised: false) == 2_000_000)
    #expect(floor.wallMilliseconds(system: 7, now: later, isSynchronised: true) == 7)
    let extreme = ClockFloor(floor: .max, startedAt: start)
    #expect(extreme.wallMilliseconds(system: 7, now: later, isSynchronised: false) == 7)
  }
}
