package import Arguments
import ControlClient
import Glibc

/// A daemon that runs for one program only: on a control socket of its own in a directory of its own.
package struct ChildNode: Sendable {
  package let socket: String
  private let directory: TemporaryDirectory
  private let process: ChildProcess

  /// Starts the `relaychatd` that lies beside this program and waits until it answers. `extra` are further arguments.
  package static func start(
    _ settings: Settings, extra: [String], environment: [String: String], clock: any Clock<Duration>
  ) async throws(ProgramFailure) -> ChildNode {
    let parents = [environment["XDG_RUNTIME_DIR"], environment["TMPDIR"], "/tmp"].compactMap { $0 }
    guard let directory = TemporaryDirectory.make(inOneOf: parents) else {
      throw ProgramFailure("No temporary directory can be made; set TMPDIR to a directory that you can write to.")
    }
    let socket = directory.path + "/control.sock"
    let arguments = Self.arguments(settings, socket: socket, directory: directory.path) + extra
    guard let executable = DaemonProgram.path(), let process = ChildProcess(executable, arguments) else {
      directory.remove()
      throw ProgramFailure("There is no relaychatd beside this program; install it, or use a running daemon.")
    }
    let node = ChildNode(socket: socket, directory: directory, process: process)
    do throws(ProgramFailure) {
      try await node.waitUntilItAnswers(clock)
      return node
    } catch {
      await node.stop()
      throw error
    }
  }

  /// Ends the daemon and removes what was its own.
  package func stop() async {
    await process.stop()
    directory.remove()
  }

  static func arguments(_ settings: Settings, socket: String, directory: String) -> [String] {
    var arguments = ["--socket", socket, "--state", settings.text("state") ?? directory + "/state"]
    if let name = settings.text("name") { arguments += ["--name", name] }
    if let key = settings.text("community-key") { arguments += ["--community-key", key] }
    for transport in settings.all("transport") { arguments += ["--transport", transport] }
    return arguments
  }

  private func waitUntilItAnswers(_ clock: any Clock<Duration>) async throws(ProgramFailure) {
    var waited = Duration.zero
    while waited < ProgramsLimits.startOfNode {
      if let status = process.endStatus {
        // The daemon has said itself, on standard error, what is wrong.
        let code = status & 0x7F == 0 ? (status >> 8) & 0xFF : ExitCode.failure
        throw ProgramFailure("The daemon of this program has ended before it was ready.", exitCode: max(1, code))
      }
      if let client = try? await NodeClient.connect(to: socket, as: "relaychat", clock: clock) {
        client.close()
        return
      }
      guard (try? await clock.sleep(for: ProgramsLimits.lookForNode)) != nil else { throw ProgramFailure(.cancelled) }
      waited += ProgramsLimits.lookForNode
    }
    throw ProgramFailure("The daemon of this program does not answer; see what it says above.")
  }
}
