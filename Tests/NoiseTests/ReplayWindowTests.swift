import TestKit
import Testing

@testable import Noise

/// What the window must say, by remembering everything.
private struct NaiveWindow {
  var seen: Set<UInt64> = []
  var newest: UInt64?

  func verdict(on counter: UInt64) -> ReplayWindow.Verdict {
    guard let newest else { return .fresh }
    if counter <= newest, newest - counter >= 1_024 { return .tooOld }
    return seen.contains(counter) ? .replayed : .fresh
  }

  mutating func accept(_ counter: UInt64) {
    seen.insert(counter)
    newest = max(newest ?? 0, counter)
  }
}

struct ReplayWindowTests {
  private static let starts: [UInt64] = [
    0, 1, 63, 64, 1_023, 1_024, (1 << 16) - 600, (1 << 32) - 600, (1 << 48) - 1, (1 << 63) - 600, .max - 6_000,
    .max - 1_024, .max - 1,
  ]

  private func compare(_ window: inout ReplayWindow, _ naive: inout NaiveWindow, _ counter: UInt64) -> Bool {
    let verdict = window.verdict(on: counter)
    guard verdict == naive.verdict(on: counter) else { return false }
    let before = window.image
    window.accept(counter)
    if verdict == .fresh { naive.accept(counter) } else if window.image != before { return false }
    return window.newest == naive.newest && window.verdict(on: counter) != .fresh
  }

  @Test(arguments: starts, [1, 2, 3] as [UInt64]) func randomCountersMatchASet(start: UInt64, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var (window, naive) = (ReplayWindow(), NaiveWindow())
    var center = start
    for step in 0..<6_000 {
      let reach: UInt64 = [1, 4, 64, 1_030, 1_100, 5_000][Int.random(in: 0..<6, using: &random)]
      let low = center > reach ? center - reach : 0
      let high = center > .max - reach ? UInt64.max : center + reach
      let counter = UInt64.random(in: low...high, using: &random)
      #expect(compare(&window, &naive, counter), "start \(start), seed \(seed), step \(step), counter \(counter)")
      if UInt8.random(in: 0..<4, using: &random) == 0 { center = max(center, counter) }
    }
  }

  @Test(arguments: starts) func threat08_theWindowTakesNoCounterTwiceAtAnyEdgeOfItsArithmetic(start: UInt64) {
    var (window, naive) = (ReplayWindow(), NaiveWindow())
    let jumps: [UInt64] = [0, 1, 2, 62, 63, 64, 65, 127, 128, 1_022, 1_023, 1_024, 1_025, 2_047, 2_048, 2_049]
    var at = start
    for forward in jumps {
      for back in jumps {
        for counter in [at, at >= back ? at - back : 0, at] {
          #expect(compare(&window, &naive, counter), "start \(start), counter \(counter)")
        }
        at = at > .max - forward ? .max : at + forward
      }
    }
  }

  @Test func everyCounterIsFreshOnceInAnyOrderWithinTheWindow() {
    var random = SeededGenerator(seed: 5)
    var window = ReplayWindow()
    for block: UInt64 in 0..<40 {
      let counters = (0..<1_024).map { block * 1_024 + UInt64($0) }.shuffled(using: &random)
      // The newest of a block makes the whole block and nothing older part of the window.
      window.accept(block * 1_024 + 1_023)
      for counter in counters where counter % 1_024 != 1_023 {
        #expect(window.verdict(on: counter) == .fresh)
        window.accept(counter)
        #expect(window.verdict(on: counter) == .replayed)
      }
      if block > 0 { #expect(window.verdict(on: block * 1_024 - 1) == .tooOld) }
    }
  }

  @Test func threat08_theLastCounterAndTheFirstDoNotMeet() {
    var window = ReplayWindow()
    window.accept(.max)
    #expect(window.verdict(on: .max) == .replayed)
    #expect(window.verdict(on: 0) == .tooOld)
    #expect(window.verdict(on: .max - 1_023) == .fresh)
    #expect(window.verdict(on: .max - 1_024) == .tooOld)
  }
}
