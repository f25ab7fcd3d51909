import Links
import MemoryTransport
import Sessions
import Streams
import TestKit
import Testing

@testable import NodeRuntime

/// A neighbour that comes and goes is told as an event with the reason, at whole nodes in virtual time.
struct UnsteadyLinkTests {
  private func notices(_ subscription: Broadcast<LinkNotice>.Subscription) -> [ReconnectWatch.Alarm] {
    var alarms: [ReconnectWatch.Alarm] = []
    while let element = subscription.poll() {
      if case .element(.unsteady(_, let alarm)) = element { alarms.append(alarm) }
    }
    return alarms
  }

  private func isLinked(_ mesh: Mesh) -> Bool {
    (try? mesh.call { await mesh.members[0].node.links.records().contains { $0.isActive } }) ?? false
  }

  @Test func threeReturnsWithinAMinuteAreAnEventThatNamesTheCause() throws {
    let mesh = Mesh(seed: 11)
    for name in ["A", "B"] { try mesh.add(name) }
    let subscription = try #require(mesh.members[0].node.links.notices.subscribe())
    mesh.medium.setReach("A", "B", true)
    #expect(mesh.run(for: .seconds(60)) { isLinked(mesh) })
    for turn in 1...3 {
      #expect(notices(subscription).isEmpty, "after \(turn - 1) returns")
      mesh.medium.setReach("A", "B", false)
      mesh.run(for: .seconds(1))
      mesh.medium.setReach("A", "B", true)
      #expect(mesh.run(for: .seconds(15)) { isLinked(mesh) })
    }
    let alarms = notices(subscription)
    #expect(alarms.count == 1 && alarms.first?.reconnects == 3)
    #expect(alarms.first?.sentence == "lost (3 times)")
    #expect(alarms.first?.peer == mesh.members[1].node.session.ownID)
    mesh.stop()
  }

  @Test func linkThatHoldsIsNoEvent() throws {
    let mesh = Mesh(seed: 12)
    for name in ["A", "B"] { try mesh.add(name) }
    let subscription = try #require(mesh.members[0].node.links.notices.subscribe())
    mesh.medium.setReach("A", "B", true)
    mesh.run(for: .seconds(600))
    #expect(notices(subscription).isEmpty)
    mesh.stop()
  }
}
