import Arguments
import Glibc
import Programs

let botCommand = Command(
  "relaychat-bot", summary: "answer messages with their echo",
  examples: [
    CommandExample("relaychat-bot", "speak through the daemon that runs"),
    CommandExample(
      "relaychat-bot --node --name Echo --transport local:/tmp/mesh", "with a daemon of its own"),
  ],
  options: CommonOptions.all,
  notes: [
    "A personal message is answered, and a public one that contains the bot's name. Bots and echoes are not.",
    CommonOptions.exitCodes,
  ])

let program = Program(botCommand, clock: ContinuousClock(), nodeArguments: ["--bot"]) { _ in true }
let code = await program.run { (context) throws(ProgramFailure) in
  try await EchoBot(context).run()
}
exit(code)
