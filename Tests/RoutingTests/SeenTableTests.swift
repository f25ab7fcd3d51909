import TestKit
import Testing

@testable import Routing

@Suite struct SeenTableTests {
  @Test func aRememberedPacketCostsAtMost24Bytes() {
    var table = SeenTable(quota: .max / 4)
    var random = SeededGenerator(seed: 1)
    var worst = 0.0
    while table.count < RoutingLimits.rememberedPackets {
      _ = table.insert(random.next(), hopsLeft: 1, from: 1, second: 0)
      // The fixed part of the table is the price of the first few.
      if table.count >= 1_000 { worst = max(worst, Double(table.byteCount) / Double(table.count)) }
    }
    #expect(table.count == RoutingLimits.rememberedPackets && table.evicted == 0)
    #expect(worst <= 24, "\(worst) bytes")
  }

  @Test func aPacketIsNewOnceAndADuplicateAfterwards() {
    var table = SeenTable()
    let answers = (0..<3).map { _ in table.insert(5, hopsLeft: 3, from: 1, second: 0) }
    #expect(answers == [.new, .duplicate, .duplicate])
    #expect(table.contains(5) && !table.contains(6) && table.count == 1)
  }

  @Test func theHashesZeroAndOneAreRememberedTogether() {
    var table = SeenTable()
    let answers = [0, 1].map { table.insert($0, hopsLeft: 0, from: 0, second: 0) }
    #expect(answers == [.new, .duplicate])
  }

  @Test func aCopyWithTwoMoreHopsLeftIsRelayedOnceMore() {
    for (first, second, answer) in [
      (3, 4, SeenTable.Answer.duplicate), (3, 5, .upgrade), (0, 2, .upgrade), (126, 128, .duplicate),
      (125, 127, .upgrade),
      (200, 255, .duplicate),
    ] {
      var table = SeenTable()
      _ = table.insert(9, hopsLeft: UInt8(first), from: 1, second: 0)
      let met = table.insert(9, hopsLeft: UInt8(second), from: 2, second: 0)
      let third = table.insert(9, hopsLeft: 255, from: 3, second: 0)
      #expect(met == answer, "\(first) then more")
      if answer == .upgrade {
        #expect(third == (second < 64 ? .upgrade : .duplicate), "only what reaches twice as far")
      }
    }
  }

  @Test func aPacketIsRememberedForTheHorizon() {
    for (later, isRemembered) in [
      (RoutingLimits.dedupHorizonSeconds - 1, true), (RoutingLimits.dedupHorizonSeconds, false),
    ] {
      var table = SeenTable()
      _ = table.insert(1, hopsLeft: 0, from: 0, second: 1_000)
      _ = table.insert(2, hopsLeft: 0, from: 0, second: 1_000 + later)
      #expect(table.contains(1) == isRemembered, "after \(later) s")
    }
  }

  @Test func nothingIsTakenForYoungAfterALongSilence() {
    // The seconds of a note come round after 2^18.
    for silence: UInt64 in [1 << 18, (1 << 18) + 10, (1 << 18) + 179_000, 1 << 19, 200_000, 262_143] {
      var table = SeenTable()
      for number: UInt64 in 1...100 { _ = table.insert(number, hopsLeft: 0, from: 0, second: 5_000 + number) }
      _ = table.insert(1_000, hopsLeft: 0, from: 0, second: 5_000 + silence)
      #expect(table.count == 1, "after \(silence) s of silence \(table.count) are left")
      _ = table.insert(1_001, hopsLeft: 0, from: 0, second: 5_000 + silence + 4_000)
      #expect(table.contains(1_000))
    }
  }

  @Test func aFullTableForgetsItsOldestQuarterAndRaisesTheWatermark() {
    var table = SeenTable(limit: 100, quota: 1_000)
    for number: UInt64 in 1...100 { _ = table.insert(number, hopsLeft: 0, from: 1, second: 10 * number) }
    #expect(table.watermarkSecond == 0 && table.evicted == 0)
    _ = table.insert(101, hopsLeft: 0, from: 1, second: 1_010)
    #expect(table.evicted == 25 && table.count == 76 && table.watermarkSecond == 250)
    #expect(!table.contains(25) && table.contains(26))
    #expect(table.watermark(forLink: 1) == 250 && table.watermark(forLink: 40) == 250)
  }

  @Test func aLinkOverItsQuotaForgetsItsOwnOnly() {
    var table = SeenTable(limit: 1_000, quota: 10)
    for number: UInt64 in 1...10 { _ = table.insert(1_000 + number, hopsLeft: 0, from: 2, second: number) }
    for number: UInt64 in 1...10 { _ = table.insert(number, hopsLeft: 0, from: 1, second: number) }
    for number: UInt64 in 1...50 {
      _ = table.insert(2_000 + number, hopsLeft: 0, from: SeenTable.ownSlot, second: number)
    }
    #expect(table.evicted == 0)
    _ = table.insert(11, hopsLeft: 0, from: 1, second: 11)
    #expect(table.evicted == 5 && table.watermark(forLink: 1) == 5 && table.watermark(forLink: 2) == 0)
    for number: UInt64 in 1...10 {
      #expect(table.contains(1_000 + number))
      #expect(table.contains(number) == (number > 5))
    }
  }

  @Test func itEqualsANaiveModelOver200000Operations() {
    let seed: UInt64 = 42
    var random = SeededGenerator(seed: seed)
    let (limit, quota) = (2_000, 700)
    var table = SeenTable(limit: limit, quota: quota)
    var model = SeenModel(limit: limit, quota: quota)
    var second: UInt64 = 100
    for step in 0..<200_000 {
      // No two in one second: which of equally old ones goes first is not a rule.
      second += UInt64.random(in: 1...3, using: &random)
      if UInt64.random(in: 0..<20_000, using: &random) == 0 { second += UInt64.random(in: 0...300_000, using: &random) }
      let hash = UInt64.random(in: 1...6_000, using: &random) &* 0x9E37_79B9_7F4A_7C15
      let slot = UInt8.random(in: 0...5, using: &random) == 0 ? 63 : UInt8.random(in: 0...3, using: &random)
      let hops = UInt8.random(in: 0...10, using: &random)
      let wanted = model.insert(hash, hopsLeft: hops, from: slot, second: second)
      let answer = table.insert(hash, hopsLeft: hops, from: slot, second: second)
      guard answer == wanted, table.count == model.entries.count, table.watermarkSecond == model.watermark,
        table.watermark(forLink: 2) == max(model.watermark, model.linkWatermarks[2, default: 0])
      else {
        Issue.record(
          "seed \(seed), step \(step): \(answer) instead of \(wanted), \(table.count) of \(model.entries.count)")
        return
      }
    }
    #expect(table.evicted > 0 && model.watermark > 0)
  }
}

/// The rules of the table, as simply as they can be said.
struct SeenModel {
  struct Entry {
    var second: UInt64
    var hops: UInt8
    var isUpgraded = false
    var slot: UInt8
  }

  let limit: Int
  let quota: Int
  var entries: [UInt64: Entry] = [:]
  var watermark: UInt64 = 0
  var linkWatermarks: [UInt8: UInt64] = [:]
  var sweep: UInt64 = 0

  init(limit: Int, quota: Int) { (self.limit, self.quota) = (limit, quota) }

  mutating func insert(_ hash: UInt64, hopsLeft: UInt8, from slot: UInt8, second: UInt64) -> SeenTable.Answer {
    if let entry = entries[hash] {
      guard hopsLeft >= entry.hops + 2, !entry.isUpgraded || hopsLeft >= 2 * entry.hops else { return .duplicate }
      entries[hash]?.isUpgraded = true
      entries[hash]?.hops = hopsLeft
      return .upgrade
    }
    if second >= sweep + 3_600 {
      sweep = second
      entries = entries.filter { second - $0.value.second < RoutingLimits.dedupHorizonSeconds }
    }
    let own = entries.filter { $0.value.slot == slot }
    if slot != 63, own.count >= quota {
      linkWatermarks[slot] = max(linkWatermarks[slot, default: 0], forget(own.count / 2) { $0.slot == slot })
    }
    if entries.count >= limit { watermark = max(watermark, forget(entries.count / 4) { _ in true }) }
    entries[hash] = Entry(second: second, hops: hopsLeft, slot: slot)
    return .new
  }

  mutating func forget(_ number: Int, where matches: (Entry) -> Bool) -> UInt64 {
    let ordered = entries.filter { matches($0.value) }.sorted { ($0.value.second, $0.key) < ($1.value.second, $1.key) }
    for (hash, _) in ordered.prefix(number) { entries[hash] = nil }
    return ordered.prefix(number).last?.value.second ?? 0
  }
}
