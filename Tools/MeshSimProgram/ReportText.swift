import BenchTable
import MeshSim

/// The numbers of a run in print.
enum ReportText {
  static func page(_ report: Report, seconds: Double) -> String {
    let latency = report.latency
    let lines: [(String, String)] = [
      ("scenario", "\(report.scenario), rules \(report.rules), seed \(report.seed)"),
      ("mesh", "\(report.nodes) nodes, \(report.links) links"),
      (
        "delivered",
        "\(report.delivered) of \(report.pairs), \(number(report.ratio, 5)), of \(report.messages) messages"
      ),
      ("latency", spread(latency) + " ms"),
      ("oracle", spread(report.oracle) + " ms"),
      ("stretch", spread(report.stretch)),
      ("sends", "\(number(report.sendsPerDelivery, 3)) for each node reached"),
      (
        "bytes",
        "\(number(report.payloadBytes, 1)) payload, \(number(report.acknowledgmentBytes, 1)) "
          + "acknowledgement, \(number(report.controlBytes, 1)) control for each delivery"
      ),
      ("redundancy", "\(number(report.redundancy, 3)) duplicates for each delivery"),
      ("radio", "\(number(report.radioMean, 2)) ms a message, the busiest node \(number(report.radioMost, 2)) ms"),
      (
        "lost",
        "\(report.lostFrames) frames in the air, \(report.queueFull) for want of room, \(report.overBudget) over "
          + "budget, \(report.givenUp) given up; \(report.missedEvents) connection events missed"
      ),
      ("shown again", "\(report.shownAgain)"),
      (
        "run",
        "\(report.events) events, \(number(report.virtualSeconds, 0)) s in \(number(seconds, 2)) s, "
          + "\(number(Double(report.events) / seconds / 1e6, 2)) M events/s, \(Wall.mostBytes >> 20) MiB"
      ),
      ("log", hex(report.logHash)),
    ]
    return lines.map { $0.0 + String(repeating: " ", count: 13 - $0.0.count) + $0.1 + "\n" }.joined()
      + personal(report)
      + (report.afterJoin > 0 ? "joined       all there \(number(report.afterJoin, 2)) s after the join\n" : "")
  }

  private static func personal(_ report: Report) -> String {
    guard let part = report.personal else { return "" }
    let counts = Dictionary(uniqueKeysWithValues: report.relayCounts.map { ($0.reason, $0.number) })
    func count(_ reason: String) -> UInt64 { counts[reason] ?? 0 }
    let learned =
      part.calmShortest > 0
      ? "; by one lane \(number(100 * part.calmShare, 1)) %, at \(number(part.calmSends, 2)) for "
        + "\(number(part.calmShortest, 2)), \(number(part.calmSends / part.calmShortest, 3)) times the shortest way"
      : ""
    let lines: [(String, String)] = [
      (
        "personal",
        "\(part.delivered) of \(part.pairs) delivered, \(spread(part.latency)) ms; \(part.answered) of \(part.messages) "
          + "answered, \(spread(part.answer)) ms"
      ),
      (
        "its sends",
        "\(number(part.sends, 2)) a message, \(number(part.receiptSends, 2)) for its receipts, shortest way "
          + "\(number(part.shortest, 2))" + learned
      ),
      (
        "its lanes",
        "\(count("lanesTaken")) next nodes; \(count("lanesDoubled")) messages by a second lane, "
          + "\(count("lanesWidened")) then to everybody; \(count("lanesEnded")) without a next node, "
          + "\(count("lanesClosed")) gone round, \(count("lanesMended")) with a link lost"
      ),
    ]
    return lines.map { $0.0 + String(repeating: " ", count: 13 - $0.0.count) + $0.1 + "\n" }.joined()
  }

  static func table(_ reports: [Report]) -> String {
    let header = [
      "rules", "delivered", "p50 ms", "p90 ms", "p99 ms", "max ms", "stretch p50", "sends", "bytes", "control",
      "duplicates", "radio ms", "busiest", "shown again",
    ]
    let lines = reports.map { report in
      [
        report.rules, number(report.ratio, 4), number(report.latency.p50, 0), number(report.latency.p90, 0),
        number(report.latency.p99, 0), number(report.latency.most, 0), number(report.stretch.p50, 2),
        number(report.sendsPerDelivery, 3), number(report.payloadBytes, 0),
        number(report.acknowledgmentBytes + report.controlBytes, 0), number(report.redundancy, 2),
        number(report.radioMean, 2), number(report.radioMost, 2), "\(report.shownAgain)",
      ]
    }
    return BenchRow.aligned([header] + lines)
  }

  static func json(_ report: Report, seconds: Double) -> String {
    func spread(_ value: Report.Distribution) -> String {
      "{\"p50\": \(number(value.p50, 3)), \"p90\": \(number(value.p90, 3)), \"p99\": \(number(value.p99, 3)), "
        + "\"max\": \(number(value.most, 3))}"
    }
    let fields = [
      "\"scenario\": \"\(report.scenario)\"", "\"rules\": \"\(report.rules)\"", "\"seed\": \(report.seed)",
      "\"nodes\": \(report.nodes)", "\"links\": \(report.links)", "\"messages\": \(report.messages)",
      "\"pairs\": \(report.pairs)", "\"delivered\": \(report.delivered)", "\"ratio\": \(number(report.ratio, 6))",
      "\"latencyMilliseconds\": \(spread(report.latency))", "\"oracleMilliseconds\": \(spread(report.oracle))",
      "\"stretch\": \(spread(report.stretch))", "\"sendsPerDelivery\": \(number(report.sendsPerDelivery, 4))",
      "\"payloadBytes\": \(number(report.payloadBytes, 2))",
      "\"acknowledgmentBytes\": \(number(report.acknowledgmentBytes, 2))",
      "\"controlBytes\": \(number(report.controlBytes, 2))", "\"redundancy\": \(number(report.redundancy, 4))",
      "\"radioMilliseconds\": \(number(report.radioMean, 3))",
      "\"busiestRadioMilliseconds\": \(number(report.radioMost, 3))", "\"shownAgain\": \(report.shownAgain)",
      "\"queueFull\": \(report.queueFull)", "\"overBudget\": \(report.overBudget)",
      "\"relays\": {" + report.relayCounts.map { "\"\($0.reason)\": \($0.number)" }.joined(separator: ", ") + "}",
      "\"missedEvents\": \(report.missedEvents)", "\"lostFrames\": \(report.lostFrames)",
      "\"givenUp\": \(report.givenUp)", "\"secondsAfterJoin\": \(number(report.afterJoin, 3))",
      "\"personal\": " + (report.personal.map(json) ?? "null"),
      "\"events\": \(report.events)",
      "\"seconds\": \(number(seconds, 3))", "\"residentBytes\": \(Wall.mostBytes)",
      "\"logHash\": \"\(hex(report.logHash))\"",
    ]
    return "{" + fields.joined(separator: ", ") + "}"
  }

  private static func json(_ part: Report.Personal) -> String {
    "{\"messages\": \(part.messages), \"pairs\": \(part.pairs), \"delivered\": \(part.delivered), "
      + "\"answered\": \(part.answered), \"p50\": \(number(part.latency.p50, 3)), \"p99\": \(number(part.latency.p99, 3)), "
      + "\"sends\": \(number(part.sends, 3)), \"receiptSends\": \(number(part.receiptSends, 3)), "
      + "\"shortest\": \(number(part.shortest, 3)), \"laneShare\": \(number(part.calmShare, 4)), "
      + "\"laneSends\": \(number(part.calmSends, 3)), \"laneShortest\": \(number(part.calmShortest, 3))}"
  }

  private static func spread(_ value: Report.Distribution) -> String {
    "p50 \(number(value.p50, 2)), p90 \(number(value.p90, 2)), p99 \(number(value.p99, 2)), max \(number(value.most, 2))"
  }

  private static func hex(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// With so many digits behind the point.
  static func number(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "0" }
    var scale = 1
    for _ in 0..<digits { scale *= 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(scaled)" }
    let fraction = "\(scaled % scale)"
    return "\(sign)\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}
