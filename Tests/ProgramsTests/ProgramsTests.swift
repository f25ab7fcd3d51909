import Arguments
import ControlAPI
import ControlClient
import Foundation
import Glibc
import Lifecycle
import Testing

@testable import Programs

/// The unit of the bot names options that every program of its kind has.
@Suite struct BotUnitTests {
  @Test func commandLineOfTheBotIsUnderstood() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let unit = try String(
      contentsOf: root.appendingPathComponent("Tools/systemd/relaychat-bot.service"), encoding: .utf8)
    let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") })
    let words = line.dropFirst("ExecStart=".count).split(separator: " ").map(String.init)
    #expect(words[0].hasSuffix("/relaychat-bot"))
    let command = Command("relaychat-bot", summary: "", options: CommonOptions.all)
    guard case .run(let invocation) = try command.parse(Array(words.dropFirst())) else {
      Issue.record("it runs nothing")
      return
    }
    #expect(invocation.options["socket"] == [StandardPaths(environment: [:], user: 0).socket])
  }
}

@Suite struct ProgressLineTests {
  @Test func barIsFilledByThePartThatIsDone() {
    let (full, empty) = (String(repeating: "█", count: 30), String(repeating: "░", count: 30))
    #expect(ProgressLine.text("copying", done: 0, total: 40) == "copying \(empty) 0/40")
    #expect(ProgressLine.text("copying", done: 40, total: 40) == "copying \(full) 40/40")
    #expect(
      ProgressLine.text("copying", done: 20, total: 40).hasPrefix("copying \(full.prefix(15))\(empty.prefix(15)) "))
    for (done, total) in [(0, 0), (-1, 5), (9, 3), (.max, .max), (.min, .min)] {
      #expect(ProgressLine.text("x", done: done, total: total).count >= 30)
    }
  }

  @Test func nothingIsShownWhereThereIsNoTerminal() {
    #expect(!ProgressLine(environment: ["TERM": "dumb"]).isVisible)
  }
}

@Suite struct ProgramTextTests {
  @Test func peersAreANameAndEightDigits() {
    let id = "1a2b3c4d5e6f"
    #expect(PeerText.name(PeerReference(id: id, name: "Ann\u{1B}[31m")) == "Ann␛[31m 1a2b3c4d")
    #expect(PeerText.name(PeerReference(id: id, name: "")) == "1a2b3c4d")
    #expect(PeerText.name(PeerReference(id: id, name: "deadbeef")) == "1a2b3c4d", "it would pass for another's ID")
  }

  @Test func messageLineShowsThePath() {
    let message = MessageRecord(
      messageID: "1", room: "#public", from: PeerReference(id: "1a2b3c4d5e6f", name: "Ann"), fromIsBot: true,
      text: "two\nlines", sentTime: 0, receivedTime: 0, hops: 3, path: ["B", "C"], isEcho: false, isOwn: false)
    #expect(PeerText.line(message).hasSuffix(" #public Ann 1a2b3c4d [bot]: two␊lines  (3 hops: B, C)"))
  }

  @Test(arguments: [
    (0.4, "0 s"), (99, "99 s"), (600, "10 min"), (7_200, "2 h"), (864_000, "10 d"), (-1, "0 s"), (.infinity, "0 s"),
  ]) func agesHaveOneUnit(seconds: Double, text: String) {
    #expect(PeerText.age(seconds) == text)
  }

  @Test func columnsLineUp() {
    var table = TextTable(["a", "b"])
    table.add(["long", "x"])
    #expect(table.lines == ["a     b", "long  x"])
  }

  @Test func failuresSayTheRemedyAndTheCode() {
    let missing = ProgramFailure(.notRunning(path: "/x"))
    #expect(missing.exitCode == ExitCode.daemonNotRunning && missing.sentence.contains("--node"))
    let busy = ProgramFailure(.refused(ControlError(.notReady, "No card is here.")))
    #expect(busy.sentence == "The daemon cannot do that now: No card is here.")
    let ambiguous = ProgramFailure(.refused(ControlError(.ambiguous, "two", candidates: ["Ann 1a", "Ann 2b\u{9B}"])))
    #expect(
      ambiguous.sentence
        == "Several peers are called that: Ann 1a, Ann 2b<U+009B>. Say which by its ID, with enough digits.")
    #expect(ProgramFailure(.badPath(path: "x")).exitCode == ExitCode.usage)
    let own = ProgramFailure(.refused(ControlError(.invalidParameters, "That is this node itself.")))
    #expect(own.sentence == "The daemon cannot do that: That is this node itself.")
  }

  @Test func failuresAreOneObjectForPrograms() {
    let changed = ProgramFailure(.refused(ControlError(.contactChanged, "two", candidates: ["Ann 1a", "Ann 2b"])))
    #expect(
      String(decoding: changed.json, as: UTF8.self)
        == #"{"candidates":["Ann 1a","Ann 2b"],"code":-32008,"message":"\#(changed.sentence)"}"# + "\n")
    let usage = ProgramFailure("No.", exitCode: ExitCode.usage)
    #expect(String(decoding: usage.json, as: UTF8.self) == #"{"code":2,"message":"No."}"# + "\n")
  }

  @Test func aContestedNameIsToldWithBothFingerprints() {
    let contact = ContactRecord(
      id: "1a2b3c4d5e", name: "Ann", state: .verified, isBlocked: false, isMeant: true, rivalID: "9f8e7d6c5b",
      rivalFingerprint: "22222", fingerprint: "11111")
    let line = PeerText.line(contact)
    for part in ["Ann 1a2b3c4d", "11111", "9f8e7d6c", "22222", "relaychat trust ID"] { #expect(line.contains(part)) }
  }
}

@Suite(.timeLimit(.minutes(1))) struct ProcessTests {
  @Test func childIsStoppedAndItsStatusKnown() async throws {
    let child = try #require(ChildProcess("/bin/sleep", ["600"]))
    #expect(child.endStatus == nil)
    await child.stop()
    #expect(child.endStatus == SIGTERM)
  }

  @Test func childThatIgnoresTheRequestIsKilled() async throws {
    let child = try #require(ChildProcess("/bin/sh", ["-c", "trap '' TERM; exec sleep 600"]))
    await child.stop(patience: .zero)
    let status = try #require(child.endStatus)
    #expect(status == SIGKILL || status == SIGTERM)
  }

  @Test func missingExecutableIsNoProcess() { #expect(ChildProcess("/nonexistent/program", []) == nil) }

  @Test func temporaryDirectoryGoesWithItsContents() throws {
    let directory = try #require(TemporaryDirectory(in: "/tmp"))
    #expect(unsafe mkdir(directory.path + "/state", 0o700) == 0)
    #expect(unsafe symlink("/etc", directory.path + "/state/link") == 0)
    let file = unsafe open(directory.path + "/state/file", O_CREAT | O_WRONLY, 0o600)
    close(file)
    directory.remove()
    #expect(unsafe access(directory.path, F_OK) != 0)
    #expect(unsafe access("/etc/passwd", F_OK) == 0)
  }

  @Test func commandOfTheDaemonPassesTransportsThrough() throws {
    let command = Command("x", summary: "", options: CommonOptions.all)
    guard
      case .run(let invocation) = try command.parse([
        "--node", "--transport", "a:b", "--transport", "c:", "--name", "N",
        "--community-key", "/k",
      ])
    else { return }
    let arguments = ChildNode.arguments(Settings(invocation), socket: "/s", directory: "/d")
    #expect(
      arguments == [
        "--socket", "/s", "--state", "/d/state", "--name", "N", "--community-key", "/k", "--transport", "a:b",
        "--transport", "c:",
      ])
  }
}

@Suite(.timeLimit(.minutes(1))) struct ProgramTests {
  private func run(
    _ words: [String], _ body: @escaping @Sendable (ProgramContext) async throws(ProgramFailure) -> Void = { _ in }
  ) async -> Int32 {
    let command = Command("test", summary: "test", options: CommonOptions.all)
    // A stream ends with its reader, so each run has its own.
    let signals: @Sendable () -> AsyncStream<UnixSignal>? = { AsyncStream.makeStream(of: UnixSignal.self).stream }
    let program = Program(command, clock: ContinuousClock(), signals: signals, runsUntilStopped: { _ in true })
    return await program.run(words, body)
  }

  @Test func exitCodesAreTheDocumentedOnes() async {
    #expect(await run([]) == 0)
    #expect(await run(["--help"]) == 0)
    #expect(await run(["--version"]) == 0)
    #expect(await run(["--nonsense"]) == 2)
    #expect(await run([]) { (_) throws(ProgramFailure) in throw ProgramFailure("No.", exitCode: 5) } == 5)
    let missing = await run(["--socket", "/nonexistent/socket"]) { (context) throws(ProgramFailure) in
      _ = try await context.connect()
    }
    #expect(missing == 4)
  }

  @Test func signalIsTheNaturalEndOfWhatRunsUntilStopped() async {
    let (stream, continuation) = AsyncStream.makeStream(of: UnixSignal.self)
    let program = Program(
      Command("test", summary: "test", options: CommonOptions.all), clock: ContinuousClock(), signals: { stream },
      runsUntilStopped: { _ in true })
    let code = await program.run([]) { (_) throws(ProgramFailure) in
      continuation.yield(.terminate)
      for await _ in AsyncStream<Void>(unfolding: { await Self.untilCancelled() }) {}
    }
    #expect(code == 0)
  }

  private static func untilCancelled() async -> Void? {
    for await _ in AsyncStream<Void>.makeStream().stream {}
    return nil
  }
}
