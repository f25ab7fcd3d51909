import Arguments
import ControlAPI
import ControlClient
import Programs

let storeCommand = Command(
  "store", summary: "see where keys and settings lie, and seal those of an earlier version",
  examples: [
    CommandExample("relaychat store status", "which form the store has, what went wrong, what is still missing"),
    CommandExample("relaychat store migrate", "begin to move it, or take the steps that it has earned"),
    CommandExample("relaychat store verify", "compare all that both stores have"),
  ],
  subcommands: [
    Command(
      "status", summary: "show the form of the store",
      examples: [CommandExample("relaychat store status --json", "the same for programs")]),
    Command(
      "migrate", summary: "move the plain store into the sealed one",
      examples: [
        CommandExample(
          "relaychat store migrate", "begins; it goes on by itself after days and restarts without trouble"),
        CommandExample(
          "relaychat store migrate --now", "all of it at once; the plain store goes when all was compared"),
      ],
      options: [CommandOption("now", help: "Wait for no days and restarts.")],
      notes: [
        "The daemon must be started with --key. The plain store counts until every value was compared, and the move can "
          + "be taken back until then."
      ]),
    Command(
      "verify", summary: "compare the plain and the sealed store",
      examples: [
        CommandExample("relaychat store verify", "what differs is named the first time and settled the second")
      ]
    ),
    Command(
      "rollback", summary: "let the plain store count alone again",
      examples: [CommandExample("relaychat store rollback", "possible until the plain store is deleted")]),
  ])

func store(_ context: ProgramContext) async throws(ProgramFailure) {
  let client = try await context.connect()
  switch context.invocation.command.name {
  case "status": try show(try await asking(client.store), context)
  case "rollback": try show(try await asking(client.rollBackStore), context)
  case "verify":
    let report = try await watched(context) { () async throws(ProgramFailure) in
      try await asking(client.verifyStore)
    }
    if try context.wantsJSON {
      try writeJSON(report)
    } else {
      Output.line("compared \(report.compared), copied \(report.copied), settled \(report.settled)")
      Output.line("\(report.mismatches) \(report.mismatches == 1 ? "value differs" : "values differ")")
    }
    guard report.mismatches == 0 else {
      throw ProgramFailure(
        "Values differ and are read from the plain store; look into it, then settle them with: relaychat store verify",
        exitCode: ExitCode.failure)
    }
  default:
    let isImpatient = try context.reading { (settings) throws(SettingError) in try settings.flag("now") }
    let record = try await watched(context) { () async throws(ProgramFailure) in
      try await asking { () async throws(ControlClientError) in
        try await client.migrateStore(isImpatient: isImpatient)
      }
    }
    try show(record, context)
  }
}

/// Shows on a terminal how far the daemon is with it, over a connection of its own.
private func watched<Answer: Sendable>(
  _ context: ProgramContext, _ work: @Sendable () async throws(ProgramFailure) -> Answer
) async throws(ProgramFailure) -> Answer {
  let line = ProgressLine(environment: context.environment)
  guard line.isVisible else { return try await work() }
  async let _: Void = watch(line, context)
  let answer: Result<Answer, ProgramFailure>
  do { answer = .success(try await work()) } catch { answer = .failure(error) }
  return try answer.get()
}

/// Until it is cancelled. Whatever fails here is no fault of the work.
private func watch(_ line: ProgressLine, _ context: ProgramContext) async {
  defer { line.end() }
  guard let client = try? await context.connect() else { return }
  defer { client.close() }
  while (try? await context.clock.sleep(for: ProgramsLimits.lookAtProgress)) != nil {
    guard let progress = try? await client.storeProgress() else { continue }
    line.show(progress.work.rawValue, done: progress.done, total: progress.total)
  }
}

private func show(_ record: StoreRecord, _ context: ProgramContext) throws(ProgramFailure) {
  if try context.wantsJSON {
    try writeJSON(record)
    return
  }
  for line in storeLines(record) { Output.line(line) }
  if let leftover = record.leftover { Output.note("The plain store is not wholly gone (errno \(leftover)).") }
}

/// How the store stands, for `status` too.
func storeLines(_ record: StoreRecord) -> [String] {
  var lines: [String] = []
  lines.append("store \(record.phase.rawValue)")
  lines.append("at rest: \(protection(record))")
  let counts = [("plain", record.plainValues), ("sealed", record.sealedValues)]
  lines.append(counts.map { "\($0.0) \($0.1.map { "\($0) values" } ?? "–")" }.joined(separator: ", "))
  if let history = record.history {
    let isMoving = history.phase == .sealing || history.phase == .unsealing
    lines.append("history \(history.phase.rawValue)\(isMoving ? ", \(history.done) of \(history.total)" : "")")
    let budget = history.isOverBudget ? ", more than a memory card bears for long" : ""
    lines.append(
      "written today \(history.bytesWrittenToday / 1_024) KiB, yesterday \(history.bytesWrittenYesterday / 1_024) KiB\(budget)"
    )
  }
  if record.markedNames > 0 { lines.append("\(record.markedNames) names that only the plain store has right") }
  for trouble in record.troubles {
    lines.append("\(trouble.kind.rawValue): \(trouble.count) times")
  }
  for missing in record.missing { lines.append("missing: \(sentence(missing))") }
  return lines
}

private func protection(_ record: StoreRecord) -> String {
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

private func sentence(_ missing: StoreRecord.Missing) -> String {
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
