import BenchTable
import MeshSim

/// What is promised of the mesh, beside what the simulator measures. Each row is of one scenario and seed 1.
struct SimBench {
  var isQuick: Bool

  func rows() throws -> [BenchRow] {
    var rows: [BenchRow] = []
    let still =
      ["t1-chain10", "t2-ring32", "t3-grid", "t4-rgg200-6", "t5-crowd200", "t6-bridge", "t7-stars"]
      + (isQuick ? [] : ["t4-rgg1000-8", "t5-crowd1000"])
    for name in still {
      let first = try report(name, .trees).report
      rows.append(Self.row(name: "\(name): delivered", value: first.ratio, unit: "", goal: .atLeast(1)))
      rows.append(
        Self.row(name: "\(name): sends a node reached", value: first.sendsPerDelivery, unit: "", goal: .atMost(1.02)))
      let flood = try report(name, .flood).report
      rows.append(
        Self.row(
          name: "\(name): p50", value: first.latency.p50, unit: "ms", rival: ("flood", flood.latency.p50),
          goal: .ratioAtMost(1.1)))
      rows.append(
        Self.row(
          name: "\(name): p99", value: first.latency.p99, unit: "ms", rival: ("flood", flood.latency.p99),
          goal: .ratioAtMost(1.1)))
    }
    rows += try trouble()
    rows += try pace()
    return rows
  }

  private func trouble() throws -> [BenchRow] {
    var rows: [BenchRow] = []
    let loss = try report("l1-crowd200-loss1", .trees).report
    rows.append(Self.row(name: "1 % loss: delivered", value: loss.ratio, unit: "", goal: .atLeast(0.999)))
    rows.append(
      Self.row(name: "1 % loss: sends a node reached", value: loss.sendsPerDelivery, unit: "", goal: .atMost(1.15)))
    let churn = try report("c1-churn60", .trees).report
    rows.append(Self.row(name: "churn 60 s: delivered", value: churn.ratio, unit: "", goal: .atLeast(0.999)))
    rows.append(
      Self.row(name: "churn 60 s: sends a node reached", value: churn.sendsPerDelivery, unit: "", goal: .atMost(1.3)))
    let join = try report("m4-join1", .trees).report
    rows.append(Self.row(name: "two parts joined: delivered", value: join.ratio, unit: "", goal: .atLeast(1)))
    rows.append(Self.row(name: "two parts joined: all there", value: join.afterJoin, unit: "s", goal: .atMost(20)))
    let calm = try report("t5-crowd200", .trees).report
    for name in ["a1-replay1", "a2-flood1", "a3-forge", "a4-crowd200-10", "a5-squat"] {
      let attacked = try report(name, .trees).report
      rows.append(Self.row(name: "\(name): honest delivered", value: attacked.ratio, unit: "", goal: .atLeast(0.99)))
      rows.append(
        Self.row(name: "\(name): shown again", value: Double(attacked.shownAgain), unit: "", goal: .atMost(0)))
      if name == "a2-flood1" {
        rows.append(
          Self.row(
            name: "\(name): honest p99", value: attacked.latency.p99, unit: "ms",
            rival: ("without", calm.latency.p99), goal: .ratioAtMost(2)))
      }
    }
    return rows
  }

  private func pace() throws -> [BenchRow] {
    let crowd = try report("t5-crowd1000", .trees)
    var rows = [
      Self.row(
        name: "simulator, t5-crowd1000", value: Double(crowd.report.events) / crowd.seconds / 1e6, unit: "M events/s",
        goal: .atLeast(1)),
      Self.row(
        name: "simulator, t5-crowd1000",
        value: crowd.report.virtualSeconds * Double(crowd.report.nodes) / crowd.seconds, unit: "node-s/s",
        goal: .atLeast(100_000)),
    ]
    guard !isQuick else { return rows }
    let large = try report("t5-crowd5000-10min", .trees)
    rows.append(
      Self.row(name: "5,000 nodes, ten minutes, 1 message/s", value: large.seconds, unit: "s", goal: .atMost(60)))
    rows.append(
      Self.row(
        name: "the same: memory", value: Double(Wall.mostBytes) / 1e9, unit: "GB", goal: .atMost(6)))
    return rows
  }

  /// A row whose numbers keep the digits that tell one transmission from a hundredth more.
  private static func row(
    name: String, value: Double, unit: String, rival: (String, Double)? = nil, goal: BenchRow.Goal
  ) -> BenchRow {
    BenchRow(name: name, value: value, unit: unit, rival: rival, goal: goal) { value in
      if value == value.rounded() { return ReportText.number(value, 0) }
      return ReportText.number(value, abs(value) >= 100 ? 1 : abs(value) >= 10 ? 2 : 4)
    }
  }

  private func report(_ name: String, _ rules: RuleSet) throws -> (report: Report, seconds: Double) {
    guard let scenario = Catalogue.scenario(name, seed: 1) else { usage("there is no scenario \(name)") }
    let start = Wall.seconds
    let report = try rules.run(scenario, seed: 1, progress: Wall.bar("\(name) \(rules.rawValue)"))
    Wall.endBar()
    return (report, Wall.seconds - start)
  }
}
