/// One line of the table: what was measured, beside what, and what is to be reached.
struct BenchRow {
  /// Whether `value` or `ratio` is held against the goal, and from which side.
  enum Goal {
    case atMost(Double)
    case atLeast(Double)
    /// The ratio to the rival is at most this.
    case ratioAtMost(Double)
    /// Nothing is to be reached.
    case reported
  }

  var name: String
  var value: Double
  var unit: String
  /// What the ratio is against, and what it measured in the same run.
  var rival: (name: String, value: Double)?
  var goal: Goal?
  /// Why there is no rival, where there should be one.
  var note: String?
  /// A ratio up to which a goal is known to be missed, and why is written down: the table says that it is missed all the same, and
  /// only beyond this is it a regression.
  var knownRatio: Double?

  var ratio: Double? { rival.map { value / $0.value } }

  var isMet: Bool? { isMet(allowance: 1) }

  /// - Parameter allowance: by how much an absolute number may be off, for a machine whose pace varies; a ratio is taken
  ///   in one run and gets a tenth of that.
  func isMet(allowance: Double) -> Bool? {
    if allowance > 1, let knownRatio, let ratio, ratio <= knownRatio { return true }
    return switch goal {
    case .atMost(let limit): value <= limit * allowance
    case .atLeast(let limit): value >= limit / allowance
    case .ratioAtMost(let limit): ratio.map { $0 <= limit * (1 + (allowance - 1) / 10) }
    case .reported, nil: nil
    }
  }

  var goalText: String {
    switch goal {
    case .atMost(let limit): "≤ \(Self.number(limit)) \(unit)"
    case .atLeast(let limit): "≥ \(Self.number(limit)) \(unit)"
    case .ratioAtMost(let limit): "≤ \(Self.number(limit)) × rival"
    case .reported: "reported"
    case nil: "–"
    }
  }

  var json: String {
    let fields = [
      "\"name\": \(Self.quoted(name))", "\"value\": \(Self.number(value))", "\"unit\": \(Self.quoted(unit))",
      "\"rival\": \(rival.map { Self.quoted("\($0.name): \(Self.number($0.value)) \(unit)") } ?? "null")",
      "\"note\": \(rival == nil ? note.map(Self.quoted) ?? "null" : "null")",
      "\"ratio\": \(ratio.map(Self.number) ?? "null")",
      "\"goal\": \(goal == nil ? "null" : Self.quoted(goalText))",
      "\"met\": \(isMet.map { "\($0)" } ?? "null")",
    ]
    return "{" + fields.joined(separator: ", ") + "}"
  }

  /// Three significant digits below a thousand, whole numbers above.
  static func number(_ value: Double) -> String {
    guard value.isFinite else { return "0" }
    if abs(value) >= 1_000 || value == value.rounded() { return "\(Int(value.rounded()))" }
    let scale: Double = abs(value) >= 100 ? 1 : abs(value) >= 10 ? 10 : abs(value) >= 1 ? 100 : 1_000
    return "\((value * scale).rounded() / scale)"
  }

  private static func quoted(_ text: String) -> String { "\"" + text.replacing("\"", with: "\\\"") + "\"" }

  static func table(_ rows: [BenchRow]) -> String {
    let header = ["what", "measured", "beside", "ratio", "goal", "met"]
    let lines = rows.map { row in
      [
        row.name, "\(number(row.value)) \(row.unit)",
        row.rival.map { "\($0.name): \(number($0.value)) \(row.unit)" } ?? row.note ?? "–",
        row.ratio.map(number) ?? "–",
        row.goalText, row.isMet.map { $0 ? "yes" : "NO" } ?? "–",
      ]
    }
    let widths = header.indices.map { column in ([header] + lines).map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      "| "
        + zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: " | ") + " |"
    }
    let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
    return ([line(header), rule] + lines.map(line)).joined(separator: "\n") + "\n"
  }
}
