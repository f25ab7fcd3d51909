/// One line of the table: what was measured, beside what, and what is to be reached.
package struct BenchRow {
  /// Whether `value` or `ratio` is held against the goal, and from which side.
  package enum Goal {
    case atMost(Double)
    case atLeast(Double)
    /// The ratio to the rival is at most this.
    case ratioAtMost(Double)
    /// Nothing is to be reached.
    case reported
  }

  package var name: String
  package var value: Double
  package var unit: String
  /// What the ratio is against, and what it measured in the same run.
  package var rival: (name: String, value: Double)?
  package var goal: Goal?
  /// Why there is no rival, where there should be one.
  package var note: String?
  /// A ratio up to which a goal is known to be missed, and why is written down: the table says that it is missed all the same, and
  /// only beyond this is it a regression.
  package var knownRatio: Double?
  /// How its numbers are written.
  package var format: @Sendable (Double) -> String

  package init(
    name: String, value: Double, unit: String, rival: (name: String, value: Double)? = nil, goal: Goal? = nil,
    note: String? = nil, knownRatio: Double? = nil, format: @escaping @Sendable (Double) -> String = BenchRow.number
  ) {
    self.name = name
    self.value = value
    self.unit = unit
    self.rival = rival
    self.goal = goal
    self.note = note
    self.knownRatio = knownRatio
    self.format = format
  }

  package var ratio: Double? { rival.map { value / $0.value } }

  package var isMet: Bool? { isMet(allowance: 1) }

  /// - Parameter allowance: by how much an absolute number may be off, for a machine whose pace varies; a ratio is taken
  ///   in one run and gets a tenth of that.
  package func isMet(allowance: Double) -> Bool? {
    if allowance > 1, let knownRatio, let ratio, ratio <= knownRatio { return true }
    return switch goal {
    case .atMost(let limit): value <= limit * allowance
    case .atLeast(let limit): value >= limit / allowance
    case .ratioAtMost(let limit): ratio.map { $0 <= limit * (1 + (allowance - 1) / 10) }
    case .reported, nil: nil
    }
  }

  /// A share has no unit.
  private var unitText: String { unit.isEmpty ? "" : " " + unit }

  var goalText: String {
    switch goal {
    case .atMost(let limit): "≤ \(format(limit))\(unitText)"
    case .atLeast(let limit): "≥ \(format(limit))\(unitText)"
    case .ratioAtMost(let limit): "≤ \(format(limit)) × rival"
    case .reported: "reported"
    case nil: "–"
    }
  }

  package var json: String {
    let fields = [
      "\"name\": \(Self.quoted(name))", "\"value\": \(format(value))", "\"unit\": \(Self.quoted(unit))",
      "\"rival\": \(rival.map { Self.quoted("\($0.name): \(format($0.value)) \(unit)") } ?? "null")",
      "\"note\": \(rival == nil ? note.map(Self.quoted) ?? "null" : "null")",
      "\"ratio\": \(ratio.map(format) ?? "null")",
      "\"goal\": \(goal == nil ? "null" : Self.quoted(goalText))",
      "\"met\": \(isMet.map { "\($0)" } ?? "null")",
    ]
    return "{" + fields.joined(separator: ", ") + "}"
  }

  /// Three significant digits below a thousand, whole numbers above.
  package static func number(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    if abs(value) >= 1_000 || value == value.rounded() { return "\(Int(value.rounded()))" }
    let scale: Double = abs(value) >= 100 ? 1 : abs(value) >= 10 ? 10 : abs(value) >= 1 ? 100 : 1_000
    return "\((value * scale).rounded() / scale)"
  }

  private static func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }

  package static func table(_ rows: [BenchRow]) -> String {
    aligned(
      [["what", "measured", "beside", "ratio", "goal", "met"]]
        + rows.map { row in
          [
            row.name, row.format(row.value) + row.unitText,
            row.rival.map { "\($0.name): \(row.format($0.value))\(row.unitText)" } ?? row.note ?? "–",
            row.ratio.map(row.format) ?? "–", row.goalText, row.isMet.map { $0 ? "yes" : "NO" } ?? "–",
          ]
        })
  }

  /// A table in Markdown; the first row is the header.
  package static func aligned(_ rows: [[String]]) -> String {
    guard let header = rows.first else { return "" }
    let widths = header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      "| " + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ") + " |"
    }
    let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
    return ([lines[0], rule] + lines.dropFirst()).joined(separator: "\n") + "\n"
  }
}
