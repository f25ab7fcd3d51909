import Streams
import TestKit
import Testing
import WireFormat

@testable import Routing

/// What a relay has seen, over the end of its process: a run, its groups on a disk that is an array, and the next run.
@Suite struct SeenHistoryTests {
  /// A node of which only the disk stays.
  struct Disk {
    var groups: [(number: Int64, bytes: [UInt8]?)] = []

    mutating func keep(_ save: SeenSave) {
      groups.removeAll { $0.number < save.firstKept }
      groups += save.groups.map { ($0.number, $0.bytes) }
    }
  }

  func packet(age: UInt32 = 0) throws -> Packet { try RelayStateTests().packet(age: age) }

  func start(
    from disk: Disk, run: UInt64, at second: UInt64, wall: UInt64, isSynchronised: Bool = true,
    seen: SeenTable = SeenTable()
  ) -> (state: RelayState, load: SeenLoad) {
    var state = RelayState(key: (run, 2), ownEntry: 0, seen: seen)
    for link in 1...3 { state.linkUp(link, entry: UInt32(link)) }
    state.beginHistory(run: run)
    var load = SeenLoad(
      second: RelayState.second(time(second)), wallMilliseconds: wall * 1_000, isClockSynchronised: isSynchronised)
    for group in disk.groups.reversed() { state.restore(group.bytes, number: group.number, &load) }
    state.endRestore(load)
    return (state, load)
  }

  func time(_ second: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: second * 1_000_000_000) }

  func receive(
    _ number: UInt64, _ state: inout RelayState, at second: UInt64, from slot: Int = 1, age: UInt32 = 0
  ) throws -> RelayState.Verdict {
    state.receive(
      try packet(age: age), id: PacketID(high: number, low: 9), from: slot, now: time(second), wallMilliseconds: nil
    ).verdict
  }

  func save(
    _ state: inout RelayState, to disk: inout Disk, at second: UInt64, wall: UInt64, isSynchronised: Bool = true
  ) {
    let save = state.save(now: time(second), wallMilliseconds: wall * 1_000, isClockSynchronised: isSynchronised)
    if let save {
      disk.keep(save)
      state.saved(save)
    }
  }

  @Test(arguments: [(UInt64(0), true), (5_000_000, true), (3, false)])
  func everyPacketSeenBeforeARestartIsARepetitionAfterIt(_ began: UInt64, _ isSynchronised: Bool) throws {
    var disk = Disk()
    var (first, _) = start(from: disk, run: 1, at: began, wall: 1_000_000)
    for number in 0..<2_000 as Range<UInt64> {
      #expect(try receive(number, &first, at: began + number) == .accepted)
      if number % 30 == 29 { save(&first, to: &disk, at: began + number, wall: 1_000_000 + number) }
    }
    save(&first, to: &disk, at: began + 2_000, wall: 1_002_000)
    // The machine was started anew: its monotonic clock begins again.
    var (second, load) = start(from: disk, run: 2, at: 12, wall: 1_003_000, isSynchronised: isSynchronised)
    #expect(load.taken == 2_000 && load.damaged == 0 && load.expired == 0)
    for number in 0..<2_000 as Range<UInt64> {
      #expect(try receive(number, &second, at: 20, from: Int(number % 3) + 1) == .duplicate)
    }
    #expect(try receive(2_000, &second, at: 20) == .accepted)
    // And a third run still knows what the first has seen.
    save(&second, to: &disk, at: 30, wall: 1_003_018, isSynchronised: isSynchronised)
    var (third, _) = start(from: disk, run: 3, at: 0, wall: 1_003_020)
    for number in [0, 1_999, 2_000] as [UInt64] {
      #expect(try receive(number, &third, at: 1) == .duplicate)
    }
  }

  @Test func whatIsPastTheHorizonIsForgottenAndNothingBefore() throws {
    var disk = Disk()
    let horizon = RoutingLimits.dedupHorizonSeconds
    var (first, _) = start(from: disk, run: 1, at: 0, wall: 0)
    #expect(try receive(1, &first, at: 0) == .accepted)
    save(&first, to: &disk, at: 0, wall: 0)
    #expect(try receive(2, &first, at: 100) == .accepted)
    save(&first, to: &disk, at: 100, wall: 100)
    // 50 seconds of the horizon are left for the second one.
    var (second, load) = start(from: disk, run: 2, at: 7, wall: horizon + 50)
    #expect(load.taken == 1 && load.expired == 1)
    #expect(try receive(2, &second, at: 8) == .duplicate)
    #expect(try receive(1, &second, at: 8) == .accepted)
    // What nothing remembers any more goes from the disk with the next save.
    save(&second, to: &disk, at: 30, wall: horizon + 80)
    #expect(disk.groups.map(\.number) == [2, 3])
    #expect(start(from: disk, run: 3, at: 7, wall: horizon + 101).load.taken == 1)
  }

  /// A clock that nobody keeps right may be years ahead or behind after a restart.
  @Test(arguments: [UInt64(0), 1_000_000_000]) func aClockThatIsOffForgetsNothing(_ wall: UInt64) throws {
    var disk = Disk()
    var (first, _) = start(from: disk, run: 1, at: 0, wall: 500_000)
    #expect(try receive(1, &first, at: 10) == .accepted)
    save(&first, to: &disk, at: 20, wall: 500_020)
    var (second, _) = start(from: disk, run: 2, at: 0, wall: wall, isSynchronised: false)
    #expect(try receive(1, &second, at: 1) == .duplicate)
    // Within the run the time of day is set: the monotonic clock counts.
    #expect(try receive(2, &second, at: 5) == .accepted)
    save(&second, to: &disk, at: 30, wall: wall, isSynchronised: false)
    #expect(try receive(3, &second, at: 40) == .accepted)
    save(&second, to: &disk, at: 60, wall: 600_000)
    var (third, _) = start(from: disk, run: 3, at: 0, wall: 600_100)
    for number in 1...3 as ClosedRange<UInt64> { #expect(try receive(number, &third, at: 2) == .duplicate) }
  }

  @Test func theWatermarkHolds() throws {
    var disk = Disk()
    var (first, _) = start(from: disk, run: 1, at: 1_000, wall: 10_000, seen: SeenTable(limit: 16, quota: 100))
    for number in 0..<17 as Range<UInt64> { #expect(try receive(number, &first, at: 1_000 + number) == .accepted) }
    // The four oldest went, the newest of them at 1003.
    save(&first, to: &disk, at: 1_020, wall: 10_020)
    #expect(try receive(100, &first, at: 1_020, age: 18_000) == .tooOld)
    var (second, _) = start(from: disk, run: 2, at: 5, wall: 10_030)
    // Thirteen seconds after that one, and before the start of this clock.
    #expect(second.seen.watermarkSecond == RoutingLimits.dedupHorizonSeconds + 5 - 27)
    #expect(try receive(101, &second, at: 5, age: 28_000) == .tooOld)
    #expect(try receive(102, &second, at: 5, age: 27_000) == .accepted)
    // All 17 are on the disk, and there is room for them now.
    for number in 0..<17 as Range<UInt64> { #expect(try receive(number, &second, at: 6) == .duplicate) }
  }

  @Test func whatHasNoRoomOnTheDiskRaisesTheWatermark() throws {
    var history = SeenHistory(run: 1, packetLimit: 100)
    var disk = Disk()
    let start = RoutingLimits.dedupHorizonSeconds
    for second in 0..<15 as Range<UInt64> {
      for packet in 0..<10 as Range<UInt64> {
        history.note(PacketID(high: second, low: packet), second: start + second, hopsLeft: 3)
      }
      let made = history.save(
        second: start + second, wallMilliseconds: 0, isClockSynchronised: true, watermarkSecond: 0)
      let save = try #require(made)
      disk.keep(save)
      history.saved(save)
      #expect(history.written <= 100 && disk.groups.count <= 10)
    }
    #expect(disk.groups.map(\.number) == Array(6...15))
    // The newest packet removed is of second 4, ten before the last save.
    #expect(SeenGroup(decoding: try #require(disk.groups.last?.bytes))?.watermarkAgeSeconds == 10)
  }

  @Test func thereAreNeverTooManyGroups() throws {
    var history = SeenHistory(run: 1, groupLimit: 4)
    for second in 0..<20 as Range<UInt64> {
      history.note(PacketID(high: second, low: 0), second: RoutingLimits.dedupHorizonSeconds + second, hopsLeft: 0)
      let made = history.save(
        second: RoutingLimits.dedupHorizonSeconds + second, wallMilliseconds: 0, isClockSynchronised: true,
        watermarkSecond: 0)
      let save = try #require(made)
      history.saved(save)
      #expect(history.written <= 4)
    }
  }

  @Test func whatCouldNotBeWrittenComesWithTheNextSave() throws {
    var history = SeenHistory(run: 1)
    let second = RoutingLimits.dedupHorizonSeconds
    history.note(PacketID(high: 1, low: 1), second: second, hopsLeft: 1)
    func save() -> SeenSave? {
      history.save(second: second + 5, wallMilliseconds: 0, isClockSynchronised: true, watermarkSecond: 0)
    }
    let first = save()
    let meanwhile = save()
    #expect(first?.groups.count == 1 && meanwhile == nil, "one at a time")
    history.note(PacketID(high: 2, low: 2), second: second + 1, hopsLeft: 1)
    history.failed()
    let made = save()
    let again = try #require(made)
    let group = try #require(SeenGroup(decoding: again.groups[0].bytes))
    #expect(group.entries.map(\.id.high) == [1, 2] && group.entries.map(\.ageSeconds) == [5, 4])
    history.saved(again)
    let last = save()
    #expect(last == nil && history.waiting == 0 && history.written == 2)
  }

  @Test func whileTheDiskTakesNothingMemoryIsBounded() {
    var history = SeenHistory(run: 1, packetLimit: 1_000)
    for number in 0..<5_000 as Range<UInt64> {
      history.note(PacketID(high: number, low: 0), second: RoutingLimits.dedupHorizonSeconds + number, hopsLeft: 0)
      #expect(history.waiting <= 1_000)
    }
    #expect(history.unwritten + UInt64(history.waiting) == 5_000)
    let save = history.save(
      second: RoutingLimits.dedupHorizonSeconds + 5_000, wallMilliseconds: 0, isClockSynchronised: true,
      watermarkSecond: 0)
    let age = save.flatMap { SeenGroup(decoding: $0.groups[0].bytes)?.watermarkAgeSeconds }
    #expect(age.map(UInt64.init) == 5_000 - (history.unwritten - 1), "the newest that was given up")
  }

  @Test func damagedGroupsAreSkippedAndCounted() throws {
    var disk = Disk()
    var (first, _) = start(from: disk, run: 1, at: 0, wall: 0)
    for number in 0..<5 as Range<UInt64> {
      #expect(try receive(number, &first, at: number) == .accepted)
      save(&first, to: &disk, at: number, wall: number)
    }
    disk.groups[1].bytes = nil
    disk.groups[3].bytes?.removeLast()
    var (second, load) = start(from: disk, run: 2, at: 0, wall: 10)
    #expect(load.damaged == 2 && load.taken == 3)
    for number in [0, 2, 4] as [UInt64] { #expect(try receive(number, &second, at: 1) == .duplicate) }
    for number in [1, 3] as [UInt64] { #expect(try receive(number, &second, at: 1) == .accepted) }
    save(&second, to: &disk, at: 30, wall: 40)
    #expect(disk.groups.last?.number == 6, "no number is used twice")
  }

  @Test func anyBytesAreAGroupOrNone() throws {
    var random = SeededGenerator(seed: 77)
    let whole = SeenGroup(
      run: 1, second: 2, wallMilliseconds: 3, isClockSynchronised: true, watermarkAgeSeconds: 4,
      entries: (0..<20).map {
        SeenGroup.Entry(id: PacketID(high: $0, low: $0), ageSeconds: UInt32($0), hopsLeft: UInt8($0))
      })
    #expect(SeenGroup(decoding: whole.encoded) == whole)
    for round in 0..<4_000 {
      var bytes =
        round % 2 == 0
        ? whole.encoded
        : (0..<Int.random(in: 0...120, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
        let value: UInt8 = [0, 0xFF, UInt8.random(in: 0...255, using: &random)].randomElement(using: &random)!
        bytes[Int.random(in: 0..<min(bytes.count, 60), using: &random)] = value
      }
      if round % 3 == 0 { bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))) }
      if let group = SeenGroup(decoding: bytes) { #expect(group.encoded == bytes, "seed 77, round \(round)") }
      let disk = Disk(groups: [(.max, bytes), (Int64.random(in: .min ... .max, using: &random), bytes)])
      var (state, load) = start(from: disk, run: 9, at: UInt64.random(in: 0...9, using: &random), wall: 5)
      #expect(load.damaged <= 2 && load.taken <= 40, "seed 77, round \(round)")
      _ = try receive(1, &state, at: 20)
      _ = state.save(now: time(30), wallMilliseconds: 0, isClockSynchronised: false)
    }
  }

  @Test func ownPacketOfAnEarlierRunIsSentAgainOnce() throws {
    var disk = Disk()
    let own = Int(SeenTable.ownSlot)
    var (first, _) = start(from: disk, run: 1, at: 0, wall: 0)
    #expect(try receive(1, &first, at: 0, from: own) == .accepted)
    #expect(try receive(1, &first, at: 1, from: own) == .duplicate)
    save(&first, to: &disk, at: 1, wall: 1)
    var (second, _) = start(from: disk, run: 2, at: 0, wall: 5)
    #expect(try receive(1, &second, at: 1, from: 2) == .duplicate, "a neighbour brings it back")
    #expect(try receive(1, &second, at: 2, from: own) == .accepted)
    #expect(try receive(1, &second, at: 3, from: own) == .duplicate)
    #expect(try receive(1, &second, at: 3, from: 2) == .duplicate)
  }

  @Test func onlyARepetitionFromAnEarlierRunIsCalledSo() throws {
    var disk = Disk()
    var (first, _) = start(from: disk, run: 1, at: 0, wall: 0)
    #expect(try receive(1, &first, at: 0) == .accepted)
    save(&first, to: &disk, at: 1, wall: 1)
    var (second, _) = start(from: disk, run: 2, at: 0, wall: 1)
    #expect(try receive(2, &second, at: 0) == .accepted)
    for (number, isOfEarlierRun) in [(UInt64(1), true), (2, false)] {
      let decision = second.receive(
        try packet(), id: PacketID(high: number, low: 9), from: 2, now: time(60), wallMilliseconds: nil)
      #expect(decision.verdict == .duplicate && decision.isOfEarlierRun == isOfEarlierRun)
    }
  }

  @Test func aFullTableComesBackInBoundedTimeAndMemory() throws {
    var disk = Disk()
    var (first, _) = start(from: disk, run: 1, at: 0, wall: 0, seen: SeenTable(quota: .max / 4))
    let packet = try packet()
    for number in 0..<UInt64(RoutingLimits.rememberedPackets) {
      _ = first.receive(
        packet, id: PacketID(high: number, low: 9), from: 1, now: time(number / 2), wallMilliseconds: nil)
      if number % 60 == 59 { save(&first, to: &disk, at: number / 2, wall: number / 2) }
    }
    save(&first, to: &disk, at: 131_072, wall: 131_072)
    let clock = ContinuousClock()
    let begin = clock.now
    let (second, load) = start(from: disk, run: 2, at: 0, wall: 131_072)
    let took = begin.duration(to: clock.now)
    #expect(load.taken == RoutingLimits.rememberedPackets && second.seen.count == load.taken && load.leftOut == 0)
    #expect(second.seen.byteCount <= 24 * load.taken)
    let bytes = disk.groups.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
    print("\(load.taken) packets in \(disk.groups.count) groups, \(bytes) bytes, taken in \(took)")
    #expect(disk.groups.count <= RoutingLimits.seenGroups)
  }
}
