import Arguments
import ControlAPI
package import ControlClient

/// The end of a program that could not do what it was asked: one sentence with the remedy, and the exit code.
package struct ProgramFailure: Error, Sendable, Equatable {
  package let sentence: String
  package let exitCode: Int32

  /// `sentence` may contain text from elsewhere: it is neutralised.
  package init(_ sentence: String, exitCode: Int32 = ExitCode.failure) {
    self.sentence = TerminalText.neutralised(sentence)
    self.exitCode = exitCode
  }

  package init(_ error: ControlClientError) {
    switch error {
    case .notRunning(let path):
      self.init(
        "No daemon answers on \(path); start one with relaychatd, or add --node to run one for this program only.",
        exitCode: ExitCode.daemonNotRunning)
    case .noAccess(let path):
      self.init(
        "You may not use the socket \(path); join its group with: sudo usermod -aG relaychat $USER, and log in again.")
    case .badPath(let path):
      self.init(
        "The socket path \(path) is longer than a socket can have; give a shorter one with --socket.",
        exitCode: ExitCode.usage)
    case .systemCall(let name, let code): self.init("The system refused \(name) with error \(code).")
    case .unsupportedVersion(let node):
      let spoken = node.map { " It speaks version \($0), this program version \(ControlAPILimits.apiVersion)." } ?? ""
      self.init("The daemon is of another version; install the same version of both.\(spoken)")
    case .refused(let refusal): self.init(refusal)
    case .timeout: self.init("The daemon did not answer in time; relaychat status shows whether it is busy.")
    case .connectionLost:
      self.init("The daemon has ended the connection; see its log.", exitCode: ExitCode.daemonNotRunning)
    case .cancelled: self.init("Stopped.")
    case .tooMuchWaits: self.init("The daemon takes no more requests at the moment; try again.")
    case .unexpectedAnswer: self.init("The daemon's answer cannot be understood; install the same version of both.")
    }
  }

  private init(_ refusal: ControlError) {
    let limit = refusal.data?.limit
    let message = refusal.message.hasSuffix(".") ? String(refusal.message.dropLast()) : refusal.message
    switch refusal.code {
    case .notFound: self.init("There is no such peer or message; relaychat peers lists whom the node knows.")
    case .ambiguous:
      let candidates = refusal.data?.candidates ?? []
      self.init("Several peers are called that: \(candidates.joined(separator: ", ")). Use more digits of the ID.")
    case .contactChanged:
      let candidates = refusal.data?.candidates ?? []
      self.init(
        "Another key bears this contact's name: \(candidates.joined(separator: ", ")). Say who is meant with: relaychat trust ID."
      )
    case .blocked: self.init("This peer is blocked; relaychat unblock takes it back.")
    case .tooLong: self.init("That is too long\(limit.map { "; at most \($0) bytes are possible" } ?? "").")
    case .timeout: self.init("No answer came in time; the peer may be out of reach.")
    case .permission: self.init("The daemon does not permit that to this user: \(message).")
    case .notReady: self.init("The daemon cannot do that now: \(message).")
    default: self.init("The daemon refused: \(message) (\(refusal.code.rawValue)).")
    }
  }
}
