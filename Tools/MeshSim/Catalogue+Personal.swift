internal import TestKit

/// The scenarios of messages for one node, and of people who chat.
extension Catalogue {
  @Sendable static func crowd1000(_ generator: inout SeededGenerator) -> Topology {
    .crowd(1_000, inRange: 30, cap: 7, using: &generator)
  }

  // MARK: P: messages for one node, W: everything at once

  static let personal: [Entry] = [
    personal("p1-private200", "200 in a crowd, every message is for one of them, which answers", crowd200),
    personal("p1-private1000", "1,000 in a crowd, every message is for one of them, which answers", crowd1000),
    personal("p1-private1000-churn", "the same, nodes stay 600 s and are away for a sixth of that", crowd1000) {
      (scenario, _) in
      scenario.churn = Scenario.Churn(meanStay: 600 * second, meanAbsence: 100 * second)
      scenario.measured = 120 * second
    },
    personal("p1-private-blackhole10", "200, a tenth pass everything on but what is for one node", crowd200) {
      (scenario, generator) in
      scenario.hostility = .swallow
      let nodes = Array(0..<scenario.topology.nodeCount).shuffled(using: &generator)
      scenario.hostileNodes = nodes.prefix(scenario.topology.nodeCount / 10).sorted()
    },
    personal("p1-private-loss1", "200, 1 % of all frames are lost", crowd200) { scenario, _ in
      scenario.air.lossMillionths = 10_000
    },
    personal("p1-private-old25", "200, a quarter of the nodes know the first rules only", crowd200) { scenario, _ in
      scenario.percentWithoutTrees = 25
    },
    entry(
      "w1-chat1000", "1,000 chat, 2 messages a second, 20 at the peak: 15 % for one node, 4 % of 1 to 10 kB, 1 % of 32",
      crowd1000
    ) { scenario, _ in
      scenario.load.perThousandSeconds = 2_000
      scenario.load.chat = Scenario.Chat()
      scenario.measured = 120 * second
      scenario.drain = 30 * second
    },
  ]

  private static func personal(
    _ name: String, _ summary: String, _ make: @escaping @Sendable (inout SeededGenerator) -> Topology,
    _ change: @escaping @Sendable (inout Scenario, inout SeededGenerator) -> Void = { _, _ in }
  ) -> Entry {
    entry(name, summary, make) { scenario, generator in
      scenario.load.isPrivate = true
      scenario.drain = 20 * second
      change(&scenario, &generator)
    }
  }
}
