internal import Archive
internal import Arguments
internal import ControlServer
internal import Database
internal import Glibc
internal import Identities
internal import Keying
internal import Lifecycle
internal import Primitives
internal import Sessions
internal import Streams
internal import Telemetry
public import Transports

/// A RelayChat daemon, for programs that bring transports of their own.
///
///     @main struct MyDaemon {
///       static func main() async { await Daemon.main(transports: [myFactory]) }
///     }
public enum Daemon {
  /// The version of this build.
  public static let version = "0.1.0"

  /// Runs a daemon with these transports on the arguments and the environment of the process, and ends the process
  /// with the documented exit code when it has stopped.
  public static func main(transports: [TransportFactory]) async -> Never {
    // Before the first secret is read, by whichever verb.
    _ = ProcessProtection.begin()
    guard let words = ProcessArguments.words() else {
      StandardStreams.write("relaychatd: \(ProcessArguments.refusal)\n", to: 2)
      exit(ExitCode.usage)
    }
    exit(await run(arguments: words, environment: ProcessEnvironment.read(), transports: transports))
  }

  /// Runs a daemon until SIGTERM, `node.stop` or a failure.
  ///
  /// - Returns: the exit code: 0 stopped, 1 failure, 2 usage, 3 configuration, 5 state unusable, 10 to 19 keys
  ///   refused. What was wrong was
  ///   said in one sentence on standard error.
  public static func run(
    arguments: [String], environment: [String: String], transports: [TransportFactory]
  ) async -> Int32 {
    await run(arguments: arguments, environment: environment, transports: transports, security: nil)
  }

  /// The same with links that are protected in another way: what shows that a tap can hear. Only this package can call
  /// it, and no argument, file or variable leads to it.
  package static func run(
    arguments: [String], environment: [String: String], transports: [TransportFactory], security: Node.SecurityDouble?
  ) async -> Int32 {
    if let code = OfflineCommand.run(arguments, environment: environment) { return code }
    let command = DaemonCommand.table(transports: transports)
    do throws(DaemonError) {
      switch try parse(arguments, command) {
      case .help(let text): StandardStreams.write(text, to: 1)
      case .version: StandardStreams.write("relaychatd \(version)\n", to: 1)
      case .run(let invocation):
        let configuration = try DaemonConfiguration(
          invocation, command: command, environment: environment, user: geteuid(), factories: transports)
        return try await DaemonProcess.run(configuration, environment: environment, security: security)
      }
      return ExitCode.success
    } catch {
      StandardStreams.write("relaychatd: \(error.sentence)\n", to: 2)
      return error.exitCode
    }
  }

  private static func parse(_ arguments: [String], _ command: Command) throws(DaemonError) -> ParsedCommand {
    do { return try command.parse(arguments) } catch { throw .usage(error) }
  }
}
