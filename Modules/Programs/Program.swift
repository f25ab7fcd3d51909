package import Arguments
package import ControlClient
package import Lifecycle

/// What the body of a program works with.
package struct ProgramContext: Sendable {
  package let invocation: Invocation
  package let settings: Settings
  package let environment: [String: String]
  package let socket: String
  package let name: String
  package let clock: any Clock<Duration>

  package func connect() async throws(ProgramFailure) -> NodeClient {
    do { return try await NodeClient.connect(to: socket, as: name, clock: clock) } catch {
      throw ProgramFailure(error)
    }
  }
}

/// The frame of a program that talks to a daemon: understands the command line, starts a daemon when it is asked to,
/// ends on a signal, and turns every failure into one sentence and an exit code.
package struct Program: Sendable {
  private let command: Command
  private let version: String
  private let clock: any Clock<Duration>
  private let signals: @Sendable () -> AsyncStream<UnixSignal>?
  /// For the daemon that `--node` starts.
  private let nodeArguments: [String]
  /// True when the program runs until it is stopped, so that a signal is its natural end.
  private let runsUntilStopped: @Sendable (Invocation) -> Bool

  package init(
    _ command: Command, version: String = Program.version, clock: any Clock<Duration>, nodeArguments: [String] = [],
    signals: @escaping @Sendable () -> AsyncStream<UnixSignal>? = {
      try? UnixSignals.stream([.terminate, .interrupt])
    },
    runsUntilStopped: @escaping @Sendable (Invocation) -> Bool
  ) {
    self.command = command
    self.version = version
    self.clock = clock
    self.nodeArguments = nodeArguments
    self.signals = signals
    self.runsUntilStopped = runsUntilStopped
  }

  /// Of all programs.
  package static let version = "0.1.0"

  /// Runs with the arguments of this process. Returns the exit code.
  package func run(
    _ body: @escaping @Sendable (ProgramContext) async throws(ProgramFailure) -> Void
  ) async -> Int32 {
    guard let words = ProcessArguments.words() else {
      Output.note("\(command.name): \(ProcessArguments.refusal)")
      return ExitCode.usage
    }
    return await run(words, body)
  }

  /// Returns the exit code. `words` are the arguments after the program's name.
  package func run(
    _ words: [String], _ body: @escaping @Sendable (ProgramContext) async throws(ProgramFailure) -> Void
  ) async -> Int32 {
    UnixSignals.ignoreBrokenPipes()
    let invocation: Invocation
    do throws(UsageError) {
      switch try command.parse(words) {
      case .help(let text):
        Output.line(String(text.dropLast()))
        return ExitCode.success
      case .version:
        Output.line("\(command.name) \(version)")
        return ExitCode.success
      case .run(let parsed): invocation = parsed
      }
    } catch {
      // What cannot be parsed may still say how it wants to be answered.
      let options = words.prefix { $0 != "--" }
      return fail(
        ProgramFailure("\(error) See \(command.name) --help.", exitCode: ExitCode.usage),
        inJSON: command.options.contains { $0.name == "json" } && options.contains { $0 == "--json" || $0 == "-j" })
    }
    do throws(ProgramFailure) {
      return try await run(invocation, body)
    } catch {
      return fail(error, inJSON: (try? Settings(invocation).flag("json")) == true)
    }
  }

  private func fail(_ failure: ProgramFailure, inJSON: Bool) -> Int32 {
    if inJSON { Output.write(failure.json, to: 2) } else { Output.note("\(command.name): \(failure.sentence)") }
    return failure.exitCode
  }

  private func run(
    _ invocation: Invocation, _ body: @escaping @Sendable (ProgramContext) async throws(ProgramFailure) -> Void
  ) async throws(ProgramFailure) -> Int32 {
    let environment = ProgramEnvironment.read(for: command)
    let settings = Settings(invocation, environment: environment)
    guard let signals = signals() else {
      throw ProgramFailure("The signals of this process cannot be watched.")
    }
    let wantsNode: Bool
    do { wantsNode = try settings.flag("node") } catch {
      throw ProgramFailure(error.description, exitCode: error.exitCode)
    }
    let result = await untilSignal(signals) { () throws(ProgramFailure) in
      guard wantsNode else {
        let socket = CommonOptions.socket(settings, environment: environment)
        try await body(context(invocation, settings, environment, socket))
        return
      }
      let node = try await ChildNode.start(settings, extra: nodeArguments, environment: environment, clock: clock)
      do throws(ProgramFailure) {
        try await body(context(invocation, settings, environment, node.socket))
        await node.stop()
      } catch {
        await node.stop()
        throw error
      }
    }
    switch result {
    case .success: return ExitCode.success
    case .failure(let failure): throw failure
    case nil: return runsUntilStopped(invocation) ? ExitCode.success : ExitCode.failure
    }
  }

  private func context(
    _ invocation: Invocation, _ settings: Settings, _ environment: [String: String], _ socket: String
  ) -> ProgramContext {
    ProgramContext(
      invocation: invocation, settings: settings, environment: environment, socket: socket, name: command.name,
      clock: clock)
  }

  /// nil when a signal came first; `work` is then cancelled and has ended.
  private func untilSignal(
    _ signals: AsyncStream<UnixSignal>, _ work: @escaping @Sendable () async throws(ProgramFailure) -> Void
  ) async -> Result<Void, ProgramFailure>? {
    await withTaskGroup(of: Result<Void, ProgramFailure>?.self) { group in
      group.addTask {
        do throws(ProgramFailure) {
          try await work()
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      group.addTask {
        for await _ in signals { break }
        return nil
      }
      let first = await group.next()
      group.cancelAll()
      await group.waitForAll()
      return first ?? nil
    }
  }
}
