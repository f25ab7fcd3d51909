import Arguments
import Glibc
import Programs

let loggerCommand = Command(
  "relaychat-logger", summary: "write down what the links of a node carry",
  examples: [
    CommandExample("relaychat-logger --output mesh.jsonl", "one JSON object for each packet that comes in"),
    CommandExample("relaychat-logger | jq 'select(.verdict != \"accepted\")'", "what is dropped, and why"),
  ],
  options: CommonOptions.all + [
    CommandOption(
      "output", short: "o", value: "FILE", help: "Append to this file instead of writing to standard output.",
      environment: "RELAYCHAT_LOGGER_OUTPUT")
  ],
  notes: [
    "Fields: kind, time, link, neighbour, direction, packetKind, id, hops, size, verdict. Contents are never written.",
    "When the daemon goes, the logger waits for it; the line {\"kind\":\"gap\"} says from when to when nothing was seen.",
    CommonOptions.exitCodes,
  ])

let program = Program(loggerCommand, clock: ContinuousClock()) { _ in true }
let code = await program.run { (context) throws(ProgramFailure) in
  try await TrafficLogger(context).run()
}
exit(code)
