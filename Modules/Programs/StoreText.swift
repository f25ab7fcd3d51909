package import ControlAPI

/// How the store stands, in print.
package enum StoreText {
  /// How the store stands, for `status` too.
  package static func lines(_ record: StoreRecord) -> [String] {
    var lines: [String] = []
    lines.append("store \(record.phase.rawValue)")
    lines.append("at rest: \(protection(record))")
    let counts = [("plain", record.plainValues), ("sealed", record.sealedValues)]
    lines.append(counts.map { "\($0.0) \($0.1.map { "\($0) values" } ?? "–")" }.joined(separator: ", "))
    if let history = record.history {
      let isMoving = history.phase == .sealing || history.phase == .unsealing
      lines.append("history \(history.phase.rawValue)\(isMoving ? ", \(history.done) of \(history.total)" : "")")
      let budget = history.bytesPerDay.map { ", of \($0 >> 20) MiB a day" } ?? ""
      let excess = history.isOverBudget ? ": more than a memory card bears for long" : ""
      lines.append(
        "written today \(history.bytesWrittenToday / 1_024) KiB, yesterday \(history.bytesWrittenYesterday / 1_024) KiB"
          + budget + excess)
      if let damage = history.damage {
        lines.append(
          "history damaged: up to \(damage.messages) messages cannot be read, the first is number \(damage.first), the "
            + "last \(damage.last); stop the node and run relaychatd salvage")
      }
      if let unopened = history.unopened { lines.append("history: \(unopened) times a message did not open") }
    }
    if record.markedNames > 0 { lines.append("\(record.markedNames) names that only the plain store has right") }
    for trouble in record.troubles {
      let (first, last) = (PeerText.moment(trouble.firstMilliseconds), PeerText.moment(trouble.lastMilliseconds))
      let times = trouble.count == 1 ? "once, \(first)" : "\(trouble.count) times, first \(first), last \(last)"
      lines.append("\(trouble.kind.rawValue): \(times)")
    }
    for missing in record.missing { lines.append("missing: \(sentence(missing))") }
    return lines
  }

  /// What `store verify` did.
  package static func lines(_ report: StoreReport) -> [String] {
    if let opened = report.opened {
      return [
        "opened \(opened) values of the sealed store; each is as it was sealed",
        "there is no plain store to compare them with",
      ]
    }
    return [
      "compared \(report.compared), copied \(report.copied), settled \(report.settled)",
      "\(report.mismatches) \(report.mismatches == 1 ? "value differs" : "values differ")",
    ]
  }

  private static func protection(_ record: StoreRecord) -> String {
    let holder: String
    switch record.protection {
    case .credential: holder = "opened by a credential of the service manager"
    case .passphrase: holder = "opened by a passphrase"
    case .keyFile: holder = "opened by a key file elsewhere"
    case .none: return "not protected"
    }
    let open = record.lyingOpen ?? []
    guard !open.isEmpty else { return "sealed, \(holder)" }
    return "not all sealed, whoever has the disk reads \(open.joined(separator: ", ")); the rest is \(holder)"
  }

  private static func sentence(_ missing: StoreRecord.Missing) -> String {
    let count = missing.count ?? 0
    return switch missing.kind {
    case .sealedStore: "the sealed store is not open"
    case .mismatches: "\(count) values differ; relaychat store verify settles them"
    case .names: "\(count) values are not in the sealed store yet"
    case .room: "\(count) values find no room in the sealed store"
    case .milliseconds: "\(PeerText.age(Double(count) / 1_000)) without trouble"
    case .restarts: "\(count) \(count == 1 ? "restart" : "restarts") without trouble"
    case .word: "relaychat store migrate begins it"
    }
  }
}
