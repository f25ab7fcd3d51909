/// One line of the table of goals: the row of `Tools/bench`.
struct SimRow {
  enum Goal {
    case atMost(Double)
    case atLeast(Double)
    /// The ratio to the rival is at most this.
    case ratioAtMost(Double)
    case reported
  }

  var name: String
  var value: Double
  var unit: String
  var rival: (name: String, value: Double)?
  var goal: Goal
  var note: String?

  var ratio: Double? { rival.map { value / $0.value } }

  var isMet: Bool? {
    switch goal {
    case .atMost(let limit): value <= limit
    case .atLeast(let limit): value >= limit
    case .ratioAtMost(let limit): ratio.map { $0 <= limit }
    case .reported: nil
    }
  }

  /// A ratio has no unit.
  private var unitText: String { unit.isEmpty ? "" : " " + unit }

  var goalText: String {
    switch goal {
    case .atMost(let limit): "≤ \(Self.number(limit))\(unitText)"
    case .atLeast(let limit): "≥ \(Self.number(limit))\(unitText)"
    case .ratioAtMost(let limit): "≤ \(Self.number(limit)) × rival"
    case .reported: "reported"
    }
  }

  var json: String {
    let fields = [
      "\"name\": \"\(name)\"", "\"value\": \(Self.number(value))", "\"unit\": \"\(unit)\"",
      "\"rival\": \(rival.map { "\"\($0.name): \(Self.number($0.value)) \(unit)\"" } ?? "null")",
      "\"note\": \(rival == nil ? note.map { "\"\($0)\"" } ?? "null" : "null")",
      "\"ratio\": \(ratio.map(Self.number) ?? "null")", "\"goal\": \"\(goalText)\"",
      "\"met\": \(isMet.map { "\($0)" } ?? "null")",
    ]
    return "{" + fields.joined(separator: ", ") + "}"
  }

  static func number(_ value: Double) -> String {
    if value == value.rounded() { return ReportText.number(value, 0) }
    return ReportText.number(value, abs(value) >= 100 ? 1 : abs(value) >= 10 ? 2 : 4)
  }

  static func table(_ rows: [SimRow]) -> String {
    aligned(
      [["what", "measured", "beside", "ratio", "goal", "met"]]
        + rows.map { row in
          [
            row.name, number(row.value) + row.unitText,
            row.rival.map { "\($0.name): \(number($0.value))\(row.unitText)" } ?? row.note ?? "–",
            row.ratio.map(number) ?? "–", row.goalText, row.isMet.map { $0 ? "yes" : "NO" } ?? "–",
          ]
        })
  }

  /// The first row is the header.
  static func aligned(_ rows: [[String]]) -> String {
    guard let header = rows.first else { return "" }
    let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      "| " + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ") + " |"
    }
    let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
    return ([lines[0], rule] + lines.dropFirst()).joined(separator: "\n") + "\n"
  }
}
