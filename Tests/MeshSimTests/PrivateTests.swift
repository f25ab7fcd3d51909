import MeshSim
import Testing

/// Messages for one node, in the simulator.
@Suite struct PrivateTests {
  func report(_ topology: Topology, _ change: (inout Scenario) -> Void = { _ in }) throws -> Report {
    var scenario = Scenario(name: "private", summary: "", topology: topology)
    scenario.load.introductions = 1
    scenario.load.isPrivate = true
    (scenario.warmUp, scenario.measured, scenario.drain) = (10_000_000_000, 20_000_000_000, 20_000_000_000)
    change(&scenario)
    return try RuleSet.trees.run(scenario, seed: 1)
  }

  @Test func aMessageForOneTakesTheLinksThatLieBetween() throws {
    let report = try report(.grid(5))
    let personal = try #require(report.personal)
    #expect(personal.delivered == personal.pairs && personal.answered == personal.messages && personal.messages == 20)
    #expect(report.ratio == 1 && report.pairs == 20 && report.shownAgain == 0)
    #expect(personal.sends <= 1.5 * personal.shortest && personal.receiptSends <= 1.5 * personal.shortest)
  }

  @Test func whoSwallowsWhatIsForOneCostsTimeOnly() throws {
    let report = try report(.grid(5)) {
      $0.hostility = .swallow
      $0.hostileNodes = [6, 13, 17]
    }
    let personal = try #require(report.personal)
    #expect(personal.delivered == personal.pairs && personal.answered == personal.messages)
    #expect(personal.latency.most < 12_000)
  }

  @Test func nodesOfTheFirstRulesLoseNothing() throws {
    let report = try report(.grid(5)) { $0.percentWithoutTrees = 30 }
    #expect(report.ratio == 1 && report.personal?.answered == 20)
  }

  @Test func peopleWhoChatGetEverything() throws {
    let report = try report(.grid(4)) {
      $0.load.isPrivate = false
      $0.load.chat = Scenario.Chat()
      $0.load.perThousandSeconds = 2_000
    }
    #expect(report.ratio == 1 && report.messages > 20, "\(report.ratio)")
    let personal = try #require(report.personal)
    #expect(personal.delivered == personal.pairs)
  }
}
