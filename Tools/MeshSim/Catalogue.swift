internal import TestKit

/// The scenarios by name.
package struct Catalogue {
  package struct Entry: Sendable {
    package var name: String
    package var summary: String
    var make: @Sendable (inout SeededGenerator) -> Scenario
  }

  static let second: UInt64 = 1_000_000_000

  package static let entries: [Entry] = still + lossy + moving + hostile + personal

  package static func scenario(_ name: String, seed: UInt64) -> Scenario? {
    guard let entry = entries.first(where: { $0.name == name }) else { return nil }
    var generator = Scenario.generator(seed, 6)
    var scenario = entry.make(&generator)
    scenario.name = entry.name
    scenario.summary = entry.summary
    return scenario
  }

  static func entry(
    _ name: String, _ summary: String, _ make: @escaping @Sendable (inout SeededGenerator) -> Topology,
    _ change: @escaping @Sendable (inout Scenario, inout SeededGenerator) -> Void = { _, _ in }
  ) -> Entry {
    Entry(name: name, summary: summary) { generator in
      var scenario = Scenario(name: name, summary: summary, topology: make(&generator))
      // What is measured is the mesh as it is when everybody is known: each node has sent its card. A large one takes longer for that, at five a second, or it would be no more than full; in one that is larger
      // than the table of trees most are never known.
      scenario.load.introductions = scenario.topology.nodeCount <= 1_024 ? 1 : 0
      scenario.warmUp = max(
        scenario.warmUp, UInt64(scenario.load.introductions * scenario.topology.nodeCount) * second / 5)
      change(&scenario, &generator)
      return scenario
    }
  }

  @Sendable static func crowd200(_ generator: inout SeededGenerator) -> Topology {
    .crowd(200, inRange: 30, cap: 7, using: &generator)
  }

  // MARK: T: who is linked with whom stays

  private static let still: [Entry] =
    [
      entry("t1-chain10", "a line of 10, one message a second from an end", { _ in .line(10) }) { scenario, _ in
        scenario.load.source = 0
      },
      entry("t2-ring32", "a ring of 32", { _ in .ring(32) }),
      entry("t3-grid", "10 by 10, four neighbours each", { _ in .grid(10) }),
    ]
    + [(50, 4), (50, 6), (50, 8), (200, 4), (200, 6), (200, 8), (1_000, 4), (1_000, 6), (1_000, 8), (5_000, 8)].map {
      (count: Int, degree: Int) in
      entry(
        "t4-rgg\(count)-\(degree)", "\(count) anywhere, linked with all in range, \(degree) on average",
        { .geometric(count, degree: Double(degree), using: &$0) })
    }
    + [200, 1_000, 5_000].flatMap { (count: Int) in
      [4, 7, 12, 20].map { (cap: Int) in
        entry(
          "t5-crowd\(count)" + (cap == 7 ? "" : "-cap\(cap)"), "\(count), 30 in range of each, at most \(cap) links",
          { .crowd(count, inRange: 30, cap: cap, using: &$0) })
      }
    }
    + [
      entry(
        "t5-crowd200-60", "200, 60 in range of each, at most 7 links",
        { .crowd(200, inRange: 60, cap: 7, using: &$0) }),
      entry(
        "t5-crowd200-strongest", "200, each linked with the strongest 7",
        { .crowd(200, inRange: 30, cap: 7, choice: .strongest, using: &$0) }),
      entry(
        "t5-crowd200-farthest", "200, each linked with the farthest 7",
        { .crowd(200, inRange: 30, cap: 7, choice: .farthest, using: &$0) }),
    ]
    + [100, 10_000, 50_000].map { (rate: UInt64) in
      entry("t5-crowd200-rate\(rate / 1_000)", "200 in a crowd, \(rate) messages in 1,000 s", crowd200) { scenario, _ in
        scenario.load.perThousandSeconds = rate
        if rate > 10_000 { (scenario.warmUp, scenario.measured) = (40 * second, 20 * second) }
      }
    }
    + [
      entry(
        "t5-crowd5000-10min", "5,000 in a crowd, one message a second for ten minutes",
        {
          .crowd(5_000, inRange: 30, cap: 7, using: &$0)
        }
      ) { scenario, _ in scenario.measured = 530 * second },
      entry("t5-crowd200-one", "200 in a crowd, one of them says everything", crowd200) { scenario, _ in
        scenario.load.source = 0
      },
      entry(
        "t6-bridge", "two crowds of 50 and one link between them",
        {
          .clusters(50, inRange: 30, cap: 7, bridges: 1, using: &$0)
        }),
      entry(
        "t6-flap", "the same, the link 20 s up and 40 s down",
        {
          .clusters(50, inRange: 30, cap: 7, bridges: 1, using: &$0)
        }
      ) { scenario, _ in
        let bridge = scenario.topology.edges.count - 1
        scenario.measured = 120 * second
        scenario.drain = 61 * second
        for period in UInt64(0)..<5 {
          scenario.switches.append(
            Scenario.Switch(at: (60 * period + 20) * second, edges: [bridge], isUp: false))
          scenario.switches.append(
            Scenario.Switch(at: (60 * period + 60) * second, edges: [bridge], isUp: true))
        }
      },
      entry("t7-stars", "8 hubs in a star, 20 leaves each", { _ in .starOfStars(hubs: 8, leaves: 20) }),
    ]
}
