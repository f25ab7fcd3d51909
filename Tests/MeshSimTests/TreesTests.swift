import MeshSim
import Testing

/// The shipped relays with their trees, in the simulator.
@Suite struct TreesTests {
  func report(_ topology: Topology, _ change: (inout Scenario) -> Void = { _ in }) throws -> Report {
    var scenario = Scenario(name: "trees", summary: "", topology: topology)
    scenario.load.introductions = 1
    (scenario.warmUp, scenario.measured) = (10_000_000_000, 20_000_000_000)
    change(&scenario)
    return try RuleSet.trees.run(scenario, seed: 1)
  }

  @Test func onceEverybodyHasSpokenAPacketIsSentOnceToEachNode() throws {
    for topology in [Topology.ring(16), .grid(5)] {
      let report = try report(topology)
      #expect(report.ratio == 1 && report.sendsPerDelivery <= 1.02, "\(report.sendsPerDelivery)")
      #expect(report.shownAgain == 0)
    }
  }

  @Test func lostFramesLoseNothing() throws {
    let report = try report(.grid(5)) { $0.air.lossMillionths = 10_000 }
    #expect(report.ratio == 1 && report.sendsPerDelivery <= 1.15, "\(report.sendsPerDelivery)")
  }

  @Test func nodesOfTheFirstRulesLoseNothingAndCostSends() throws {
    var sends: [Double] = []
    for percent in [0, 50, 100] {
      let report = try report(.grid(5)) { $0.percentWithoutTrees = percent }
      #expect(report.ratio == 1, "\(percent)")
      sends.append(report.sendsPerDelivery)
    }
    #expect(sends == sends.sorted(), "\(sends)")
  }
}
