import Testing

@testable import Arguments

let sample = Command(
  "relaychat", summary: "talk to a node",
  examples: [CommandExample("relaychat send '#public' hello", "say hello to everybody")],
  options: [
    CommandOption(
      "socket", short: "s", value: "PATH", help: "Where the daemon listens.", defaultValue: "/run/x",
      environment: "RELAYCHAT_SOCKET", key: "control.socket"),
    CommandOption("json", short: "j", help: "Write JSON."),
    CommandOption("verbose", short: "v", help: "Say more.", environment: "RELAYCHAT_VERBOSE", key: "log.verbose"),
    CommandOption("transport", value: "SPEC", help: "A transport.", isRepeatable: true),
  ],
  subcommands: [
    Command("status", summary: "show the node"),
    Command(
      "send", summary: "send a message", options: [CommandOption("to", value: "PEER", help: "The recipient.")],
      arguments: [
        CommandArgument("ROOM", help: "The room."),
        CommandArgument("TEXT", help: "The text.", isOptional: true, isRepeatable: true),
      ]),
  ],
  openSections: ["transport."])

@Suite struct CommandTests {
  private func run(_ words: String...) throws -> Invocation {
    guard case .run(let invocation) = try sample.parse(words) else { throw UsageError.tooManyArguments }
    return invocation
  }

  @Test func everyFormOfAnOptionIsUnderstood() throws {
    for words in [
      ["--socket", "/a", "status"], ["--socket=/a", "status"], ["status", "-s", "/a"], ["status", "-s/a"],
      ["-jvs/a", "status"], ["-jvs", "/a", "status"],
    ] {
      guard case .run(let invocation) = try sample.parse(words) else { continue }
      #expect(invocation.command.name == "status")
      #expect(invocation.options["socket"] == ["/a"])
    }
    #expect(try run("-jv", "status").options == ["json": ["true"], "verbose": ["true"]])
    #expect(try run("--transport", "a", "--transport=b=c", "status").options["transport"] == ["a", "b=c"])
    #expect(try run("--socket=", "status").options["socket"] == [""])
  }

  @Test func argumentsAreNamed() throws {
    let invocation = try run("send", "#public", "--to", "x", "--", "--not-an-option", "-")
    #expect(invocation.arguments == ["ROOM": ["#public"], "TEXT": ["--not-an-option", "-"]])
    #expect(invocation.argument("ROOM") == "#public")
    #expect(invocation.options["to"] == ["x"])
  }

  @Test(arguments: [
    (["--sokcet", "x"], UsageError.unknownOption("--sokcet", suggestion: "--socket")),
    (["--versoin"], .unknownOption("--versoin", suggestion: "--version")),
    (["--completely-else"], .unknownOption("--completely-else", suggestion: nil)),
    (["-x"], .unknownOption("-x", suggestion: nil)),
    (["--socket"], .missingValue(option: "--socket")), (["-s"], .missingValue(option: "-s")),
    (["--json=yes", "status"], .unexpectedValue(option: "--json")),
    (["-s1", "-s2", "status"], .repeatedOption("--socket")),
    (["sned"], .unknownCommand("sned", suggestion: "send")),
    ([], .missingCommand(among: ["status", "send"])), (["send"], .missingArgument("ROOM")),
    (["status", "more"], .unexpectedArgument("more")),
  ]) func mistakesHaveTheirOwnError(words: [String], error: UsageError) {
    #expect(throws: error) { try sample.parse(words) }
    #expect(error.description.hasSuffix(".") || error.description.hasSuffix("?"))
  }

  @Test func endlessCommandLineIsRefused() {
    let words = Array(repeating: "x", count: ArgumentsLimits.arguments + 1)
    #expect(throws: UsageError.tooManyArguments) { _ = try sample.parse(words) }
  }

  @Test func helpShowsExamplesFirst() throws {
    guard case .help(let text) = try sample.parse(["--help", "--nonsense"]) else {
      Issue.record("no help")
      return
    }
    let examples = try #require(text.firstRange(of: "Examples:"))
    let usage = try #require(text.firstRange(of: "Usage:"))
    #expect(examples.lowerBound < usage.lowerBound)
    #expect(text.contains("-s, --socket PATH"))
    #expect(text.contains("environment RELAYCHAT_SOCKET"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= ArgumentsLimits.helpColumns })
    guard case .help(let sub) = try sample.parse(["send", "-h"]) else {
      Issue.record("no help")
      return
    }
    #expect(sub.hasPrefix("relaychat send – send a message"))
    #expect(sub.contains("relaychat send [OPTIONS] ROOM [TEXT…]"))
    guard case .version = try sample.parse(["status", "--version"]) else {
      Issue.record("no version")
      return
    }
  }

  @Test(arguments: [
    ("status", "status", 0), ("statsu", "status", 1), ("sttus", "status", 1), ("staatus", "status", 1),
    ("", "ab", 2), ("abcd", "dcba", 3),
  ]) func editsAreCounted(left: String, right: String, distance: Int) {
    #expect(Spelling.distance(left, right) == distance)
    #expect(Spelling.distance(right, left) == distance)
  }

  @Test func farWordsAreNotSuggested() {
    #expect(Spelling.closest(to: "xy", among: ["ab"]) == nil)
    #expect(Spelling.closest(to: "peer", among: ["links", "peers"]) == "peers")
  }

  @Test func controlCharactersBecomeVisible() {
    #expect(TerminalText.neutralised("plain – ünïcödé 🦊") == "plain – ünïcödé 🦊")
    #expect(TerminalText.neutralised("\u{1B}[31m\n\u{7F}\u{9B}\u{202E}\u{2028}") == "␛[31m␊␡<U+009B><U+202E><U+2028>")
    #expect(TerminalText.neutralised("a\r\nb") == "a␍␊b")
  }
}
