import MemoryTransport
import Sessions
import TestKit
import Testing

@testable import NodeRuntime

/// What was said in the last hours reaches who comes later, once, and bears a mark.
@Suite struct LateJoinerTests {
  @Test func whoComesLaterGetsTheLastHoursMarkedAsLateAndNothingTwice() throws {
    let mesh = Mesh(seed: 91)
    defer { mesh.stop() }
    for name in ["ann", "ben"] { try mesh.add(name) }
    mesh.joinChain()
    mesh.run(for: .seconds(60))
    try #require(mesh.isAcquainted())
    let ann = mesh.members[0].node.session
    for hour in 0..<8 {
      _ = try mesh.call { try await ann.send("hour \(hour)", to: .everyone) }
      mesh.run(for: .seconds(3_600))
    }
    _ = try mesh.call { try await ann.send("just before", to: .everyone) }
    mesh.run(for: .seconds(10))

    try mesh.add("late")
    mesh.medium.setReach("ben", "late", true)
    mesh.run(for: .seconds(120))
    _ = try mesh.call { try await ann.send("now", to: .everyone) }
    mesh.run(for: .seconds(10))

    let late = mesh.members[2].node.session
    let messages = try mesh.call { try await late.messages(limit: 100) }
    // The lifetime of a public message is six hours: those of hours 0 to 2 are over.
    #expect(
      Set(messages.map(\.text)) == Set((3..<8).map { "hour \($0)" } + ["just before", "now"]), "\(messages.map(\.text))"
    )
    #expect(
      Set(messages.filter { !$0.isLate }.map(\.text)).isSubset(of: ["just before", "now"]),
      "\(messages.filter { !$0.isLate }.map(\.text))")
    #expect(messages.contains { $0.text == "now" && !$0.isLate })
    #expect(mesh.heard[2].values.allSatisfy { $0 == 1 }, "\(mesh.heard[2])")
    #expect(mesh.heard[1].values.allSatisfy { $0 == 1 }, "\(mesh.heard[1])")
  }
}
