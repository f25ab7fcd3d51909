import Archive
import Bytes
import Foundation
import Identities
import Primitives
import Relaying
import Routing
import Streams
import Telemetry
import TestKit
import Testing
import WireFormat

@testable import NodeRuntime

/// What a relay has seen, through an archive that is sealed.
@Suite struct SeenShelfTests {
  private final class Folder: Sendable {
    let path = NSTemporaryDirectory() + "seen-\(UUID().uuidString)"

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private let directory = Folder()

  private func archive() throws -> MessageArchive {
    let dataKey = Secret(copying: [UInt8](repeating: 7, count: 32).rawSpan)
    let key = try ArchiveKey(dataKey: dataKey, storeID: [UInt8](repeating: 1, count: 16))
    return try MessageArchive(path: directory.path + "/archive.db", key: key)
  }

  private func packet() throws -> Packet {
    let origin = WireFormat.Tag(rawValue: 1)
    return try PacketDraft(kind: .personal, time: 0, origin: origin, destination: .everyone, body: [1]).unsigned()
  }

  private func relay(_ archive: MessageArchive, at second: UInt64) -> Relay {
    let time = ManualTime(wallMilliseconds: 1_800_000_000_000 + second * 1_000)
    return Relay(
      configuration: Relay.Configuration(
        ownID: PeerID(high: 1, low: 1), key: (second, 4), time: time.source, isClockSynchronised: { true },
        log: Log(label: "relay", threshold: .error, sink: MemoryLogSink()), run: second,
        seenStore: SeenShelf(archive: archive)),
      inbound: Channel(capacity: 1), outbound: Channel(capacity: 1),
      control: Channel(capacity: 1))
  }

  @Test func aFullHorizonComesBackFromASealedArchive() async throws {
    let packet = try packet()
    let all = UInt64(RoutingLimits.rememberedPackets)
    do {
      let shelf = SeenShelf(archive: try archive())
      var state = RelayState(key: (1, 2), ownEntry: 0, seen: SeenTable(quota: .max / 4))
      state.beginHistory(run: 1)
      for number in 0..<all {
        let now = MonotonicTime(nanoseconds: number / 2 * 1_000_000_000)
        _ = state.receive(packet, id: PacketID(high: number, low: 3), from: 1, now: now, wallMilliseconds: nil)
        guard number % 512 == 511 || number == all - 1 else { continue }
        let save = state.save(
          now: now, wallMilliseconds: 1_800_000_000_000 + number / 2 * 1_000, isClockSynchronised: true)
        guard let save else { continue }
        try await shelf.keep(save, isLast: number == all - 1)
        state.saved(save)
      }
    }
    let kept = try archive()
    let relay = relay(kept, at: all / 2 + 100)
    let clock = ContinuousClock()
    let begin = clock.now
    await relay.restore()
    let took = begin.duration(to: clock.now)
    #expect(relay.counters[.restored] == all && relay.counters[.historyDamaged] == 0)
    #expect(await relay.tables.remembered == Int(all))
    print("\(all) packets from a sealed archive in \(took)")
  }

  @Test func aSaveCostsAFewPages() async throws {
    let kept = try archive()
    let shelf = SeenShelf(archive: kept)
    var state = RelayState(key: (1, 2), ownEntry: 0)
    state.beginHistory(run: 1)
    let packet = try packet()
    let before = await kept.writes(now: 0).bytesToday
    let saves: UInt64 = 200
    for number in 0..<saves * 20 {
      let now = MonotonicTime(nanoseconds: number * 1_500_000_000)
      _ = state.receive(packet, id: PacketID(high: number, low: 3), from: 1, now: now, wallMilliseconds: nil)
      guard number % 20 == 19 else { continue }
      let made = state.save(now: now, wallMilliseconds: number, isClockSynchronised: true)
      let save = try #require(made)
      try await shelf.keep(save, isLast: false)
      state.saved(save)
    }
    let bytes = await kept.writes(now: 0).bytesToday - before
    let perDay = bytes / saves * (86_400 / RoutingLimits.seenSaveSeconds)
    print("a save of 20 packets writes \(bytes / saves) bytes, \(perDay / 1_000_000) MB a day")
    #expect(perDay < ArchiveLimits.bytesWrittenPerDay / 10)
  }

  @Test func damagedRowsDoNotKeepARelayFromRunning() async throws {
    let shelf = SeenShelf(archive: try archive())
    var state = RelayState(key: (1, 2), ownEntry: 0)
    state.beginHistory(run: 1)
    for number in 0..<3 as Range<UInt64> {
      let now = MonotonicTime(nanoseconds: number * 1_000_000_000)
      _ = state.receive(
        try packet(), id: PacketID(high: number, low: 3), from: 1, now: now, wallMilliseconds: nil)
      let made = state.save(now: now, wallMilliseconds: 1_800_000_000_000, isClockSynchronised: true)
      let save = try #require(made)
      try await shelf.keep(save, isLast: true)
      state.saved(save)
    }
    try await shelf.archive.appendSeen([(number: 2, content: [1, 2, 3])], firstKept: 1, isPromised: true)
    let relay = relay(shelf.archive, at: 5)
    await relay.restore()
    #expect(relay.counters[.restored] == 2 && relay.counters[.historyDamaged] == 1)
    await relay.saveHistory(isLast: true)
    #expect(relay.counters[.historyFailed] == 0)
  }
}
