import Streams
import TestKit
import Testing

@testable import Routing

@Suite struct MissingPacketsTests {
  var now = MonotonicTime(nanoseconds: 1_000_000_000)

  mutating func wait(_ duration: Duration) { now = now.advanced(by: duration) }

  func ask(_ missing: inout MissingPackets) -> [[UInt64]] {
    var questions: [(slot: Int, key: UInt64)] = []
    _ = missing.ask(now: now, questions: &questions)
    return questions.map { [UInt64($0.slot), $0.key] }
  }

  @Test mutating func anAnnouncedPacketIsAskedForAfterAWhileOfOneAnnouncerAfterTheOther() {
    var missing = MissingPackets()
    for slot in [2, 4, 2] { check(missing.announced(9, by: slot, now: now) == .noted) }
    check(ask(&missing).isEmpty && missing.deadline == now.advanced(by: RoutingLimits.graftDelay))
    wait(RoutingLimits.graftDelay)
    check(ask(&missing) == [[2, 9]] && ask(&missing).isEmpty)
    wait(RoutingLimits.graftInterval)
    check(ask(&missing) == [[4, 9]] && missing.underWay(on: 2) == 0 && missing.underWay(on: 4) == 1)
    // All were asked: twice the time.
    wait(RoutingLimits.graftInterval)
    check(ask(&missing) == [[2, 9]])
    wait(RoutingLimits.graftInterval)
    check(ask(&missing).isEmpty)
    check(missing.settle(9)?.askedNow == 2 && missing.isEmpty && missing.underWay(on: 2) == 0)
  }

  @Test mutating func aPacketIsGivenUp() {
    var missing = MissingPackets()
    _ = missing.announced(9, by: 2, now: now)
    var asked = 0
    for _ in 0..<100 {
      wait(.milliseconds(250))
      asked += ask(&missing).count
    }
    check(asked == Int(RoutingLimits.graftAttempts) && missing.isEmpty && missing.deadline == nil)
    check(missing.announced(9, by: 2, now: now) == .noted)
  }

  @Test mutating func aLostLinkIsAskedNoMore() {
    var missing = MissingPackets()
    _ = missing.announced(9, by: 2, now: now)
    _ = missing.announced(9, by: 3, now: now)
    _ = missing.announced(8, by: 2, now: now)
    wait(.milliseconds(300))
    check(ask(&missing) == [[2, 8], [2, 9]])
    missing.lost(2)
    check(missing.count == 1 && missing.underWay(on: 2) == 0)
    check(ask(&missing) == [[3, 9]])
  }

  @Test mutating func spamHasItsOwnRoomAndOneQuestionForEachKey() {
    var missing = MissingPackets()
    for key in UInt64(0)..<10_000 { _ = missing.announced(key, by: 1, now: now) }
    check(missing.count == RoutingLimits.missingPerLink)
    check(missing.announced(1 << 40, by: 2, now: now) == .noted)
    var open: [UInt64: Int] = [:]
    for _ in 0..<200 {
      wait(.milliseconds(50))
      for question in ask(&missing) { open[question[1], default: 0] += 1 }
      check(missing.underWay(on: 1) <= RoutingLimits.graftsPerLink && missing.underWay(on: 2) <= 1)
    }
    check(open.values.allSatisfy { $0 <= Int(RoutingLimits.graftAttempts) })
    check(open[1 << 40] == Int(RoutingLimits.graftAttempts))
  }

  @Test mutating func whateverHappensTheCountsAgree() {
    let seed: UInt64 = 0x6A57
    var generator = SeededGenerator(seed: seed)
    var missing = MissingPackets()
    for round in 0..<5_000 {
      let (key, slot) = (UInt64.random(in: 0..<200, using: &generator), Int.random(in: 0..<5, using: &generator))
      switch Int.random(in: 0..<10, using: &generator) {
      case 0: missing.lost(slot)
      case 1, 2: _ = missing.settle(key)
      case 3, 4:
        wait(.milliseconds(Int.random(in: 1...300, using: &generator)))
        _ = ask(&missing)
      default: _ = missing.announced(key, by: slot, now: now)
      }
      let open = (0..<64).reduce(0) { $0 + missing.underWay(on: $1) }
      check(open <= missing.count, "seed \(seed) round \(round)")
    }
    for key in UInt64(0)..<200 { _ = missing.settle(key) }
    check(missing.isEmpty && (0..<64).allSatisfy { missing.underWay(on: $0) == 0 })
  }
}
