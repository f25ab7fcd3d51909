import Arguments
import DBusKit
import Diagnosing
import Lifecycle
import Programs
import Streams

let doctorCommand = Command(
  "doctor", summary: "say which layer is at fault, and what to do",
  examples: [
    CommandExample("relaychat doctor", "look at radio, kernel, bus, BlueZ and daemon"),
    CommandExample("relaychat doctor --json", "the same for programs, one object a layer"),
    CommandExample("relaychat doctor --adapter hci1", "at this adapter, by name or address"),
  ],
  options: [
    CommandOption(
      "adapter", value: "ADAPTER",
      help: "Look at this adapter; without it at the daemon's, else at the first that is usable."),
    CommandOption("bus", value: "ADDRESS", help: "Ask on this bus, such as unix:path=/tmp/bus, not the system's."),
    CommandOption("root", value: "FOLDER", help: "Read /sys and /proc below this folder."),
  ],
  notes: [
    "It only reads: nothing is switched on, discovered or paired, and it needs no rights.",
    "Each JSON object has layer, state (ok, warning or fault), fact, and remedy where there is one. Layers: "
      + Finding.Layer.allCases.map(\.rawValue).joined(separator: ", ") + ".",
    "Exit codes: 0 no fault, 1 a fault, 4 no fault but that no daemon answers.",
  ])

func diagnose(_ context: ProgramContext) async throws(ProgramFailure) {
  let files = KernelFiles(root: context.settings.text("root") ?? "")
  let clock = ContinuousClock()
  let time = TimeSource(
    now: { MonotonicTime.start.advanced(by: SystemTime.sinceBoot()) }, wallMilliseconds: { 0 },
    sleep: { deadline in
      let now = MonotonicTime.start.advanced(by: SystemTime.sinceBoot())
      if now < deadline { try await clock.sleep(for: deadline.since(now)) }
    })
  async let bus = BusExamination(files: files, time: time).facts(
    context.settings.text("bus").map { .address($0) } ?? .system)
  async let daemon = DaemonExamination.facts(socket: context.socket, clock: context.clock)
  let diagnosis = Diagnosis(
    DiagnosisFacts(
      kernel: files.kernel, switches: files.switches, bus: await bus, wanted: context.settings.text("adapter"),
      daemon: await daemon))
  if try context.wantsJSON {
    for finding in diagnosis.findings { try writeJSON(finding) }
  } else {
    for line in DiagnosisText.lines(diagnosis.findings) { Output.line(TerminalText.neutralised(line)) }
  }
  if let verdict = DiagnosisText.verdict(diagnosis) {
    throw ProgramFailure(
      verdict, exitCode: diagnosis.lacksDaemonOnly ? ExitCode.daemonNotRunning : ExitCode.failure)
  }
}
