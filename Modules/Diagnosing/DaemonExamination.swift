internal import ControlAPI
internal import ControlClient

/// Asks the daemon, as any client does.
package enum DaemonExamination {
  package static func facts(socket: String, clock: any Clock<Duration>) async -> DiagnosisFacts.Daemon {
    do throws(ControlClientError) {
      let client = try await NodeClient.connect(
        to: socket, as: "relaychat-doctor", deadline: DiagnosingLimits.answer, clock: clock)
      defer { client.close() }
      return facts(try await client.status(), try await client.links())
    } catch {
      switch error {
      case .notRunning(let path): return .absent(socket: path)
      case .noAccess(let path): return .denied(socket: path)
      case .unsupportedVersion: return .failed(reason: "The daemon is of another version than this program.")
      default: return .failed(reason: "The daemon is there and does not answer.")
      }
    }
  }

  /// Whether a dial went into the air and nobody answered. The step that is named is the one that failed. A dial that was
  /// not made because the links are full says nothing about the radio.
  private static func isMiss(_ failure: LinkRecord.Failure) -> Bool {
    [.heard, .connecting].contains(failure.step) && !failure.reason.hasSuffix("links are in use")
  }

  static func facts(_ status: StatusAnswer, _ links: [LinkRecord]) -> DiagnosisFacts.Daemon {
    let isFresh = status.uptimeSeconds < DiagnosingLimits.secondsOfStart
    let transports = status.transports.map { transport in
      DiagnosisFacts.Transport(
        name: transport.name, scheme: transport.scheme,
        state: isFresh && transport.state == "poweredOff" ? "resetting" : transport.state)
    }
    let names = Set(transports.filter { $0.scheme == "bluez" }.map(\.name))
    let ours = links.filter { names.contains($0.transport) }.map { link in
      DiagnosisFacts.Link(
        isDialled: link.role == .central, isReady: link.step == .ready,
        hasMissed: link.step != .ready && link.lastFailure.map(isMiss) == true)
    }
    return .answers(
      transports: transports, links: ours,
      refusedAdvertisements: status.counters["bluez"]?["refusedAdvertisements"] ?? 0)
  }
}
