import Identities
import Streams
import TestKit
import Testing

@testable import Links

struct ReconnectWatchTests {
  private let ada = PeerID(high: 1, low: 1)
  private let bob = PeerID(high: 2, low: 2)
  private var watch = ReconnectWatch()

  private func at(_ seconds: Int) -> MonotonicTime { MonotonicTime.start.advanced(by: .seconds(1_000 + seconds)) }

  @Test mutating func thirdReturnWithinAMinuteNamesTheCauses() {
    #expect(watch.up(ada, now: at(0)) == nil)
    for (second, reason) in [(5, "lost"), (15, "closedByPeer")] {
      watch.down(ada, reason: reason, now: at(second))
      #expect(watch.up(ada, now: at(second + 1)) == nil)
    }
    watch.down(ada, reason: "lost", now: at(25))
    let alarm = watch.up(ada, now: at(26))
    #expect(alarm?.reconnects == 3 && alarm?.peer == ada)
    #expect(alarm?.sentence == "lost (2 times), closedByPeer")
  }

  @Test mutating func slowReturnsAreNoWord() {
    for turn in 0..<50 {
      watch.down(ada, reason: "lost", now: at(turn * 31))
      #expect(watch.up(ada, now: at(turn * 31 + 1)) == nil)
    }
  }

  @Test mutating func itIsSaidOncePerMinute() {
    var alarms: [Int] = []
    for turn in 0..<60 {
      watch.down(ada, reason: "lost", now: at(turn * 4))
      if watch.up(ada, now: at(turn * 4 + 1)) != nil { alarms.append(turn * 4 + 1) }
    }
    #expect(alarms == [9, 69, 129, 189])
  }

  @Test mutating func peersAreCountedApart() {
    for turn in 0..<2 {
      for peer in [ada, bob] {
        watch.down(peer, reason: "lost", now: at(turn))
        #expect(watch.up(peer, now: at(turn)) == nil)
      }
    }
    watch.down(bob, reason: "lost", now: at(3))
    #expect(watch.up(bob, now: at(3))?.peer == bob)
  }

  @Test mutating func firstLinkAndTheLinkOfAnotherRunAreNoReturn() {
    for second in 0..<10 { #expect(watch.up(ada, now: at(second)) == nil) }
    #expect(watch.count == 0)
  }

  @Test mutating func strangersDoNotFillTheMemory() {
    watch.down(ada, reason: "lost", now: at(0))
    for number in 0..<2 * LinksLimits.watchedPeers {

      watch.down(PeerID(high: 7, low: UInt64(number)), reason: "lost", now: at(1 + number))
    }
    #expect(watch.count == LinksLimits.watchedPeers)
    #expect(watch.up(ada, now: at(2_000)) == nil)
  }
}
