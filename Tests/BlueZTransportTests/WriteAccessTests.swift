import Testing

@testable import BlueZTransport

struct WriteAccessTests {
  private let here = "/dev/char0"
  private let there = "/dev/char1"

  @Test func aPeerWithoutACharacteristicIsNotified() {
    var access = WriteAccess()
    #expect(access.way(of: .bye) == .notify)
    let isNews = access.follow(nil)
    #expect(!isNews)
  }

  @Test func whatIsSaidWhileTheSocketIsAskedForGoesOverItInOrder() {
    var access = WriteAccess()
    let isNews = access.follow(here)
    #expect(isNews)
    let ways = [LinkMessage.grant(1), .grant(2)].map { access.way(of: $0) }
    #expect(ways == [.wait, .wait])
    let held = access.answered(here, isGranted: true)
    #expect(held == [.grant(1), .grant(2)])
    #expect(access.way(of: .bye) == .socket)
    let again = access.follow(here)
    #expect(!again, "the same place is not asked for again")
  }

  @Test func whereNoneIsHandedOutEachValueIsACall() {
    var access = WriteAccess()
    _ = access.follow(here)
    _ = access.way(of: .probe(3))
    let held = access.answered(here, isGranted: false)
    #expect(held == [.probe(3)])
    #expect(access.way(of: .bye) == .call(here))
  }

  @Test func anAnswerForAnotherPlaceIsNone() {
    var access = WriteAccess()
    _ = access.follow(here)
    _ = access.way(of: .grant(1))
    let isNews = access.follow(there)
    #expect(isNews)
    let late = access.answered(here, isGranted: true)
    #expect(late == nil)
    let held = access.answered(there, isGranted: true)
    #expect(held == [], "what was for the old place went with it")
  }

  @Test func onlySoMuchWaits() {
    var access = WriteAccess()
    _ = access.follow(here)
    for _ in 0..<BlueZLimits.heldValues {
      let way = access.way(of: .bye)
      #expect(way == .wait)
    }
    let way = access.way(of: .bye)
    #expect(way == .full)
  }

  @Test func aSocketThatClosesIsFollowedByCalls() {
    var access = WriteAccess()
    _ = access.follow(here)
    _ = access.answered(here, isGranted: true)
    access.closed()
    #expect(access.way(of: .bye) == .call(here))
    let isNews = access.follow(nil)
    #expect(isNews)
    #expect(access.way(of: .bye) == .notify)
  }
}
