import BenchTable
import Glibc

/// Measures what is promised and prints it beside the goals. `--json` for programs, `--quick` for a short idle
/// measurement, `--only WORD` for the rows of one part: pure, crypto, store, history, hop, throughput or idle. `--allowance 1.5`
/// lets absolute numbers be off by half before the exit code says so; the table does not change.
let arguments = CommandLine.arguments.dropFirst()

if let place = arguments.firstIndex(of: "--echo"), let descriptor = Int32(arguments[place + 1]) {
  EchoProcess.serve(descriptor)
  exit(0)
}
if let place = arguments.firstIndex(of: "--replay"), let descriptor = Int32(arguments[place + 2]) {
  try await HistoryBenchmarks.serveReplay(arguments[place + 1], descriptor)
  exit(0)
}
signal(SIGPIPE, SIG_IGN)
let only = arguments.firstIndex(of: "--only").map { arguments[$0 + 1] }
let allowance = arguments.firstIndex(of: "--allowance").flatMap { Double(arguments[$0 + 1]) } ?? 1
let isJSON = arguments.contains("--json")
let idleSeconds: UInt32 = arguments.contains("--quick") ? 10 : 60

func say(_ text: String) {
  if !isJSON, isatty(2) == 1 { _ = unsafe write(2, text, text.utf8.count) }
}

var rows: [BenchRow] = []
do {
  if only == nil || only == "pure" {
    say("state machines…\n")
    rows += try PureBenchmarks.run()
  }
  if only == nil || only == "crypto" {
    say("seals…\n")
    rows += try CryptoBenchmarks.run()
  }
  if only == nil || only == "store" {
    say("stores…\n")
    rows += try StoringBenchmarks.run()
  }
  if only == nil || only == "history" {
    say("history…\n")
    rows += try await HistoryBenchmarks.run()
  }
  if only == nil || only == "hop" {
    say("one hop…\n")
    rows += try await DaemonBenchmarks.hop()
  }
  if only == nil || only == "throughput" {
    say("throughput…\n")
    rows.append(try await DaemonBenchmarks.throughput())
  }
  if only == nil || only == "idle" {
    say("idle for \(idleSeconds) s…\n")
    rows += try await DaemonBenchmarks.idle(seconds: idleSeconds)
  }
} catch {
  let text = "relaychat-bench: \(error)\n"
  _ = unsafe write(2, text, text.utf8.count)
  exit(3)
}
let output = isJSON ? "[" + rows.map(\.json).joined(separator: ",\n ") + "]\n" : BenchRow.table(rows)
_ = unsafe write(1, output, output.utf8.count)
exit(rows.contains { $0.isMet(allowance: max(1, allowance)) == false } ? 1 : 0)
