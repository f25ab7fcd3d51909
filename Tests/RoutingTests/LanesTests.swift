import Streams
import TestKit
import Testing
import WireFormat

@testable import Routing

@Suite struct LanesTests {
  let start = MonotonicTime(nanoseconds: 3_600_000_000_000)

  @Test func theWayOfTheLastPacketIsTakenForItsTime() {
    var lanes = Lanes(secret: 7)
    let tag = EngineMesh.tag(3)
    #expect(lanes.way(to: tag, now: start) == nil)
    lanes.came(from: tag, over: 4, links: 9, now: start)
    lanes.came(from: tag, over: 5, links: 3, now: start)
    #expect(lanes.way(to: tag, now: start) == 5 && lanes.way(to: EngineMesh.tag(4), now: start) == nil)
    #expect(lanes.way(to: tag, now: start.advanced(by: RoutingLimits.laneKept)) == 5)
    #expect(lanes.way(to: tag, now: start.advanced(by: RoutingLimits.laneKept + .seconds(1))) == nil)
    lanes.forget(tag)
    #expect(lanes.way(to: tag, now: start) == nil)
    lanes.came(from: tag, over: 5, links: 3, now: start)
    #expect(lanes.lost(5).isEmpty && lanes.way(to: tag, now: start) == nil)
  }

  @Test func manyTagsTakeNoMoreRoom() {
    var lanes = Lanes(secret: 7)
    for number in 0..<10_000 { lanes.came(from: EngineMesh.tag(number), over: number % 60, links: 1, now: start) }
    #expect(lanes.way(to: EngineMesh.tag(9_999), now: start) == 9_999 % 60)
    let known = (0..<10_000).count { lanes.way(to: EngineMesh.tag($0), now: start) != nil }
    #expect(known <= RoutingLimits.lanes && known > RoutingLimits.lanes / 2)
  }

  @Test func theNearestNeighbourIsTheOneWhoseCopiesHaveCrossedFewestLinks() {
    var lanes = Lanes(secret: 7)
    let tag = EngineMesh.tag(3)
    #expect(lanes.nearest(to: tag) == nil)
    for (slot, links, nearest) in [(1, 9, 1), (2, 7, 2), (3, 7, 2), (1, 8, 2), (2, 12, 2), (1, 8, 1), (4, 1, 4)] {
      lanes.heard(tag, over: slot, links: UInt8(links))
      #expect(lanes.nearest(to: tag)?.slot == nearest, "\(slot) \(links)")
    }
    #expect(lanes.lost(4).isEmpty && lanes.nearest(to: tag) == nil)
    lanes.heard(tag, over: 5, links: 2)
    // It has brought no answer: whatever is said of it, its tree is taken.
    lanes.forget(tag)
    lanes.heard(tag, over: 6, links: 1)
    #expect(lanes.nearest(to: tag) == nil)
    for number in 0..<1_000 { lanes.heard(EngineMesh.tag(number), over: number % 60, links: 0) }
    let known = (0..<1_000).count { lanes.nearest(to: EngineMesh.tag($0))?.slot == $0 % 60 }
    #expect(known > 700, "\(known)")
  }

  @Test func anAnswerMayTakeAsLongAsItsWay() {
    var lanes = Lanes(secret: 7)
    let tag = EngineMesh.tag(3)
    let unknown = RoutingLimits.answerSlack + RoutingLimits.answerPerLink * Int(RoutingLimits.linksUnknown)
    check(lanes.wait(for: 1, from: tag, now: start) == start.advanced(by: unknown))
    lanes.came(from: tag, over: 2, links: 4, now: start)
    let known = RoutingLimits.answerSlack + RoutingLimits.answerPerLink * 4
    check(lanes.wait(for: 2, from: tag, now: start) == start.advanced(by: known))
    #expect(lanes.deadline == start.advanced(by: known))
    check(lanes.overdue(now: start.advanced(by: .milliseconds(500))).isEmpty)
    check(lanes.overdue(now: start.advanced(by: known)).map(\.key) == [2])
    #expect(lanes.deadline == start.advanced(by: unknown))
    check(lanes.answered(1) && !lanes.answered(1) && !lanes.answered(2))
    check(lanes.overdue(now: start.advanced(by: unknown)).isEmpty && lanes.deadline == .never)
  }

  @Test func whatIsKeptIsBounded() {
    var lanes = Lanes(secret: 7)
    for key in 0..<UInt64(RoutingLimits.awaitedPackets + 5) {
      lanes.wait(for: key, from: EngineMesh.tag(1), now: start)
    }
    #expect(lanes.awaitedCount == RoutingLimits.awaitedPackets)
    check(!lanes.answered(4) && lanes.answered(5))
    for key in 0..<UInt64(RoutingLimits.packetsOnLanes + 3) { lanes.sent(key, over: 1) }
    check(lanes.lost(1).count == 3)
  }

  @Test func aPacketIsUnderWayUntilItIsAcknowledgedOrItsLinkIsLost() {
    var lanes = Lanes(secret: 7)
    lanes.sent(9, over: 1)
    lanes.sent(9, over: 2)
    lanes.sent(8, over: 1)
    lanes.acknowledged(8, by: 2)
    #expect(lanes.links(of: 9).bits == 0b110 && lanes.links(of: 8).bits == 0b10)
    check(lanes.lost(1) == [8, 9])
    #expect(lanes.links(of: 9).bits == 0b100)
    lanes.acknowledged(9, by: 2)
    check(lanes.lost(2).isEmpty)
  }

  @Test func anotherWayIsOneThatDoesNotLeadThroughUs() {
    var trees = OriginTrees(own: EngineMesh.tag(0), secret: 3)
    let tag = EngineMesh.tag(5)
    let links = LinkSet(bits: 0b11111)
    #expect(trees.alternative(to: tag, among: links, mixed: 1) == nil)
    trees.learn(tag, from: 0, linkCount: 5, now: start)
    #expect(trees.parent(of: tag) == 0 && trees.alternative(to: tag, among: links, mixed: 1) == nil)
    trees.pruned(tag, by: 1)
    #expect(trees.alternative(to: tag, among: links, mixed: 1) == 1)
    check(trees.repeated(tag, from: 2, isLive: true))
    #expect(trees.alternative(to: tag, among: links, mixed: 1) == 2)
    trees.pruned(tag, by: 3)
    check(trees.repeated(tag, from: 3, isLive: true))
    #expect(trees.alternative(to: tag, among: links, mixed: 1) == 3)
    #expect(trees.alternative(to: tag, among: LinkSet(bits: 0b10), mixed: 1) == 1)
    // A lane takes nothing from a tree that has a way.
    trees.learn(tag, from: 4, linkCount: 5, now: start)
    #expect(trees.parent(of: tag) == 0)
  }
}
