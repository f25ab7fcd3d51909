internal import TestKit

/// The scenarios in which something goes wrong.
extension Catalogue {
  // MARK: L: frames and links are lost

  static let lossy: [Entry] =
    [(1_000, "0.1"), (10_000, "1"), (50_000, "5"), (200_000, "20")].flatMap { (loss: UInt64, name: String) in
      [
        ("grid", { @Sendable (_: inout SeededGenerator) in Topology.grid(10) }),
        ("rgg200-6", { @Sendable in .geometric(200, degree: 6, using: &$0) }),
        ("crowd200", crowd200),
        ("bridge", { @Sendable in .clusters(50, inRange: 30, cap: 7, bridges: 1, using: &$0) }),
      ].map { (place, topology) in
        entry("l1-\(place)-loss\(name)", "\(name) % of all frames are lost", topology) { scenario, _ in
          scenario.air.lossMillionths = loss
        }
      }
    }
    + [
      entry("l1-crowd200-bursts", "all is lost for 100 ms every 5 s on each link", crowd200) { scenario, _ in
        scenario.air.bursts = (length: 100_000_000, gap: 5 * second)
      }
    ]
    + [UInt64(30), 120, 600].map { (mean: UInt64) in
      entry("l2-breaks\(mean)", "each link breaks every \(mean) s and is back in 2 to 20 s", crowd200) { scenario, _ in
        scenario.breaks = Scenario.Breaks(meanTime: mean * second, back: 2 * second...20 * second)
        scenario.drain = 60 * second
      }
    }

  // MARK: M, C: nodes come and go

  static let moving: [Entry] =
    [100, 200, 1_000].map { (count: Int) in
      entry(
        "m1-walk\(count)", "\(count) walk in 500 by 500 m, 30 m range, one message in 10 s for an hour",
        {
          Topology(points: Topology.scattered(count, using: &$0), edges: [])
        }
      ) { scenario, _ in
        scenario.walk = Scenario.Walk(side: 500, range: 30, cap: 7, speed: 0.5...1.5, pause: 0...120)
        scenario.load.perThousandSeconds = 100
        scenario.measured = 3_540 * second
        scenario.drain = 600 * second
      }
    }
    + [1, 3, 10].map { (count: Int) in
      entry("m4-join\(count)", "two halves of a crowd, 200 messages on each side, then \(count) links", crowd200) {
        (scenario, _) in
        let middle = scenario.topology.points.map { $0.x < 0.5 }
        let crossing = scenario.topology.edges.indices.filter {
          middle[scenario.topology.edges[$0].central] != middle[scenario.topology.edges[$0].peripheral]
        }
        scenario.downAtStart = crossing
        scenario.warmUp = 0
        scenario.measured = 600 * second
        // Two sides, 200 messages each.
        scenario.load.perThousandSeconds = 667
        scenario.drain = 40 * second
        let stride = max(1, crossing.count / count)
        let joining = (0..<count).compactMap { $0 * stride < crossing.count ? crossing[$0 * stride] : nil }
        scenario.switches = [Scenario.Switch(at: 600 * second, edges: joining, isUp: true)]
        scenario.joinsAt = 600 * second
      }
    }
    + [UInt64(60), 600].map { (mean: UInt64) in
      entry("c1-churn\(mean)", "nodes stay \(mean) s and are away for a sixth of that", crowd200) { scenario, _ in
        scenario.churn = Scenario.Churn(meanStay: mean * second, meanAbsence: mean / 6 * second)
        scenario.measured = 120 * second
      }
    }
    + [1, 5, 20].map { (percent: Int) in
      entry(
        "c1-replace\(percent)", "\(percent) % of the links are replaced between two messages of one origin", crowd200
      ) { scenario, _ in
        scenario.load.source = 0
        scenario.replacement = Scenario.Replacement(percent: percent)
      }
    }
    + [0, 25, 50, 75, 100].map { (percent: Int) in
      entry("d2-old\(percent)", "\(percent) % of the nodes know the first rules only", crowd200) { scenario, _ in
        scenario.percentWithoutTrees = percent
      }
    }
    + [true, false].map { (keeps: Bool) in
      entry(
        "c2-reboot-" + (keeps ? "kept" : "lost"),
        "a tenth stop and start again, what they have seen is " + (keeps ? "kept" : "lost"), crowd200
      ) { scenario, _ in
        scenario.restarts = (0..<20).map {
          Scenario.Restart(at: (70 + 2 * UInt64($0)) * second, node: 10 * $0, keepsMemory: keeps)
        }
        scenario.drain = 30 * second
      }
    }

  // MARK: A: somebody wants it to fail

  static let hostile: [Entry] =
    [1, 5].flatMap { (count: Int) in
      [
        entry("a1-replay\(count)", "\(count) send what they have heard again, 50 a second", crowd200) { scenario, _ in
          scenario.hostility = .replay(perSecond: 50)
          scenario.hostileNodes = Array(0..<count)
        },
        entry("a2-flood\(count)", "\(count) say 200 new messages a second", crowd200) { scenario, _ in
          scenario.hostility = .flood(perSecond: 200)
          scenario.hostileNodes = Array(0..<count)
          (scenario.warmUp, scenario.measured) = (10 * second, 20 * second)
        },
      ]
    }
    + [
      entry(
        "a3-forge", "a tenth write their neighbours into every route and set hops back",
        {
          .geometric(200, degree: 6, using: &$0)
        }
      ) { scenario, generator in
        scenario.hostility = .forgeRoutes
        scenario.hostileNodes = chosen(scenario.topology.nodeCount / 10, of: scenario.topology, &generator)
      }
    ]
    + [5, 10, 20].flatMap { (percent: Int) in
      [
        (
          "rgg200-6",
          { @Sendable (generator: inout SeededGenerator) in
            Topology.geometric(200, degree: 6, using: &generator)
          }
        ), ("crowd200", crowd200),
      ].map { (place, topology) in
        entry("a4-\(place)-\(percent)", "\(percent) % take everything and pass nothing on", topology) {
          (scenario, generator) in
          scenario.hostility = .blackHole
          scenario.hostileNodes = chosen(
            scenario.topology.nodeCount * percent / 100, of: scenario.topology, &generator)
        }
      }
    }
    + [
      entry(
        "a5-squat", "one sends junk under the head of what it hears",
        {
          .crowd(50, inRange: 30, cap: 7, using: &$0)
        }
      ) { scenario, _ in
        scenario.hostility = .squat
        scenario.hostileNodes = [0]
      }
    ]

  private static func chosen(
    _ count: Int, of topology: Topology, _ generator: inout SeededGenerator
  ) -> [Int] {
    Array(Array(0..<topology.nodeCount).shuffled(using: &generator).prefix(count)).sorted()
  }
}
