import Arguments
package import ControlAPI
package import ControlClient

/// The end of a program that could not do what it was asked: one sentence with the remedy, and the exit code.
package struct ProgramFailure: Error, Sendable, Equatable {
  package let sentence: String
  package let exitCode: Int32
  /// What the daemon answered, when it has refused.
  package let refusal: ControlError?

  /// `sentence` may contain text from elsewhere: it is neutralised.
  package init(_ sentence: String, exitCode: Int32 = ExitCode.failure, refusal: ControlError? = nil) {
    self.sentence = TerminalText.neutralised(sentence)
    self.exitCode = exitCode
    self.refusal = refusal
  }

  /// The same for programs, one object on one line: `code` is that of the daemon's error, which is negative, or the
  /// exit code; `message` the sentence; `candidates` and `limit` as the daemon gave them.
  package var json: [UInt8] {
    let record = Record(
      code: refusal?.code.rawValue ?? Int(exitCode), message: sentence, candidates: refusal?.data?.candidates,
      limit: refusal?.data?.limit)
    return ControlJSON.line(record) ?? Array("{\"code\":\(record.code)}\n".utf8)
  }

  private struct Record: Encodable {
    let code: Int
    let message: String
    let candidates: [String]?
    let limit: Int?
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
    self.init(Self.sentence(refusal), refusal: refusal)
  }

  private static func sentence(_ refusal: ControlError) -> String {
    let limit = refusal.data?.limit
    let message = refusal.message.hasSuffix(".") ? String(refusal.message.dropLast()) : refusal.message
    let candidates = (refusal.data?.candidates ?? []).joined(separator: ", ")
    switch refusal.code {
    case .notFound: return "There is no such peer or message; relaychat peers lists whom the node knows."
    case .ambiguous: return "Several peers are called that: \(candidates). Say which by its ID, with enough digits."
    case .contactChanged:
      return "Two keys or more bear this name: \(candidates). Say who is meant with: relaychat trust ID."
    case .blocked: return "This peer is blocked; relaychat unblock takes it back."
    case .tooLong: return "That is too long\(limit.map { "; at most \($0) bytes are possible" } ?? "")."
    case .timeout: return "No answer came in time; the peer may be out of reach."
    case .permission: return "The daemon does not permit that to this user: \(message)."
    case .notReady: return "The daemon cannot do that now: \(message)."
    case .invalidParameters: return "The daemon cannot do that: \(message)."
    default: return "The daemon refused: \(message) (\(refusal.code.rawValue))."
    }
  }
}
