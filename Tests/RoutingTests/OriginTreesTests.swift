import Streams
import TestKit
import Testing
import WireFormat

@testable import Routing

@Suite struct OriginTreesTests {
  let own = WireFormat.Tag(rawValue: 1)
  let now = MonotonicTime(nanoseconds: 1_000_000_000_000)

  func tag(_ number: UInt64) -> WireFormat.Tag { WireFormat.Tag(rawValue: number &* 0x9E37_79B9_7F4A_7C15 | 2) }
  func trees(limit: Int = 1_024) -> OriginTrees { OriginTrees(own: own, secret: 0x1234_5678_9ABC_DEF1, limit: limit) }

  @discardableResult
  func arrive(
    _ trees: inout OriginTrees, _ origin: WireFormat.Tag, from slot: Int, isLive: Bool = true, links: Int = 4,
    at time: MonotonicTime? = nil
  ) -> OriginTrees.Arrival {
    trees.arrived(origin, from: slot, isLive: isLive, linkCount: links, now: time ?? now)
  }

  @Test func theFirstToDeliverIsTheParentAndTheOthersAreAskedToStop() {
    var trees = trees()
    check(arrive(&trees, tag(5), from: 2) == .init(quiet: .none) && trees.parent(of: tag(5)) == 2)
    check(trees.repeated(tag(5), from: 3, isLive: true) && trees.repeated(tag(5), from: 0, isLive: true))
    check(!trees.repeated(tag(5), from: 2, isLive: true), "never the parent")
    check(trees.links(of: tag(5)).stopped.bits == 0b1001)
  }

  @Test func whoAsksToStopIsNotPushedToUntilItAsksAgain() {
    var trees = trees()
    arrive(&trees, tag(5), from: 2)
    trees.pruned(tag(5), by: 3)
    trees.pruned(tag(5), by: 4)
    trees.pruned(tag(6), by: 3)
    check(arrive(&trees, tag(5), from: 2).quiet.bits == 0b11000 && trees.count == 1)
    trees.reopened(tag(5), by: 3)
    check(arrive(&trees, tag(5), from: 2).quiet.bits == 0b10000)
    trees.reopenedAll(by: 4)
    check(arrive(&trees, tag(5), from: 2).quiet.isEmpty)
  }

  @Test func whoDeliversFirstAlthoughItWasAskedToStopIsAskedToGoOn() {
    var trees = trees()
    arrive(&trees, tag(5), from: 2)
    _ = trees.repeated(tag(5), from: 3, isLive: true)
    check(arrive(&trees, tag(5), from: 3).mustReopen && trees.parent(of: tag(5)) == 3)
    check(trees.links(of: tag(5)).stopped.isEmpty)
    // The two race once more before the former parent goes.
    check(!trees.repeated(tag(5), from: 2, isLive: true) && trees.repeated(tag(5), from: 2, isLive: true))
  }

  @Test func anOldPacketIsNotTheWayToItsOrigin() {
    var trees = trees()
    arrive(&trees, tag(5), from: 2)
    arrive(&trees, tag(5), from: 3, isLive: false)
    check(trees.parent(of: tag(5)) == 2)
    arrive(&trees, tag(6), from: 3, isLive: false)
    check(trees.count == 1)
  }

  @Test func aLostParentIsReplacedByOneThatHasItsOwnWay() {
    var trees = trees()
    for number in UInt64(0)..<20 {
      arrive(&trees, tag(number), from: 2)
      trees.pruned(tag(number), by: number < 10 ? 3 : 4)
    }
    var orphans: [OriginTrees.Orphan] = []
    trees.lost(2, remaining: LinkSet(bits: 0b01010), now: now, orphans: &orphans)
    check(orphans.map(\.slot) == Array(repeating: 3, count: 10), "nobody is asked who is away")
    check(trees.parent(of: tag(3)) == 3 && trees.parent(of: tag(15)) == nil)
    check(trees.links(of: tag(15)).quiet.bits == 0b10000, "what others asked for stands")
    // Nobody is asked to stop as long as there is no parent.
    check(!trees.repeated(tag(15), from: 1, isLive: true) && trees.parent(of: tag(15)) == 1)
    orphans = []
    let later = now.advanced(by: .seconds(3_600))
    trees.lost(3, remaining: LinkSet(bits: 0b10010), now: later, orphans: &orphans)
    check(orphans.isEmpty, "silent ones are not asked for")
  }

  @Test func aParentThatIsLateThreeTimesIsReplaced() {
    var trees = trees()
    arrive(&trees, tag(5), from: 2)
    _ = trees.repeated(tag(5), from: 3, isLive: true)
    check(trees.wasLate(tag(5), behind: 3) == nil && trees.wasLate(tag(5), behind: 3) == nil)
    check(trees.lateness(of: tag(5)) == 2)
    _ = trees.arrived(tag(5), from: 2, isLive: true, isPunctual: true, linkCount: 4, now: now)
    check(trees.lateness(of: tag(5)) == 1)
    check(trees.wasLate(tag(5), behind: 3) == nil && trees.wasLate(tag(5), behind: 3) == 2)
    check(trees.parent(of: tag(5)) == 3 && trees.links(of: tag(5)).stopped.bits == 0b100)
  }

  @Test func linksBeyondTheMaskAreNeverPruned() {
    var trees = trees()
    arrive(&trees, tag(5), from: 40)
    check(!trees.repeated(tag(5), from: 32, isLive: true) && trees.repeated(tag(5), from: 31, isLive: true))
    trees.pruned(tag(5), by: 32)
    check(arrive(&trees, tag(5), from: 40).quiet.isEmpty)
  }

  @Test func ourOwnPacketsAreNotPushedBack() {
    var trees = trees()
    arrive(&trees, own, from: Int(SeenTable.ownSlot))
    check(trees.repeated(own, from: 3, isLive: true) && trees.parent(of: own) == nil)
    trees.pruned(own, by: 4)
    check(arrive(&trees, own, from: Int(SeenTable.ownSlot)).quiet.bits == 0b10000)
  }

  @Test func inventedOriginsPushOutTheirOwnOnly() {
    var trees = trees()
    for number in UInt64(0)..<500 { arrive(&trees, tag(number), from: Int(number % 2)) }
    for number in UInt64(0)..<20_000 { arrive(&trees, tag(1_000_000 + number), from: 3) }
    check(trees.count == 1_024 && trees.evicted == 20_000 - 524)
    check((UInt64(0)..<500).allSatisfy { trees.parent(of: tag($0)) == Int($0 % 2) })
    // Who brings less than its share takes room from the one that brings more.
    for number in UInt64(0)..<100 { arrive(&trees, tag(2_000_000 + number), from: 2) }
    check((UInt64(0)..<100).allSatisfy { trees.parent(of: tag(2_000_000 + $0)) == 2 })
    check((UInt64(0)..<500).allSatisfy { trees.parent(of: tag($0)) == Int($0 % 2) })
  }

  @Test func anOriginCosts24Bytes() {
    var trees = trees()
    for number in UInt64(0)..<1_024 { arrive(&trees, tag(number), from: 1) }
    check(trees.byteCount - 128 <= 1_024 * 24 + 64, "\(trees.byteCount)")
  }

  @Test func theTableAgreesWithADictionary() {
    let seed: UInt64 = 0x7EE5
    var generator = SeededGenerator(seed: seed)
    var trees = trees(limit: 64)
    var parents: [UInt64: Int] = [:]
    for round in 0..<20_000 {
      let number = UInt64.random(in: 0..<90, using: &generator)
      let slot = Int.random(in: 0..<6, using: &generator)
      switch Int.random(in: 0..<20, using: &generator) {
      case 0:
        var orphans: [OriginTrees.Orphan] = []
        trees.lost(slot, remaining: LinkSet(bits: 0b111111 & ~(1 << UInt64(slot))), now: now, orphans: &orphans)
        for (known, parent) in parents where parent == slot { parents[known] = nil }
        for orphan in orphans {
          for known in UInt64(0)..<90 where tag(known) == orphan.origin { parents[known] = orphan.slot }
        }
      case 1..<5: trees.pruned(tag(number), by: slot)
      case 5..<9:
        if trees.parent(of: tag(number)) == nil { continue }
        check(trees.repeated(tag(number), from: slot, isLive: true) ? parents[number] != slot : true)
      default:
        arrive(&trees, tag(number), from: slot)
        parents[number] = slot
      }
      check(trees.count <= 64)
      for known in UInt64(0)..<90 {
        guard let parent = trees.parent(of: tag(known)) else { continue }
        check(parent == parents[known], "seed \(seed) round \(round)")
      }
    }
  }
}
