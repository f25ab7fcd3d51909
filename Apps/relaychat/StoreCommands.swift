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
      for line in StoreText.lines(report) { Output.line(line) }
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
  for line in StoreText.lines(record) { Output.line(line) }
  if let leftover = record.leftover { Output.note("The plain store is not wholly gone (errno \(leftover)).") }
}
