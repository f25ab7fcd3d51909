import ControlAPI
import Testing

@testable import Diagnosing

/// What the daemon answers, as facts.
struct DaemonExaminationTests {
  private func status(uptime: Double, state: String) -> StatusAnswer {
    StatusAnswer(
      version: "0", uptimeSeconds: uptime, peerID: "", name: "", icon: "",
      transports: [.init(name: "bluez", scheme: "bluez", state: state)], linkCount: 0, peerCount: 0,
      counters: ["bluez": ["refusedAdvertisements": 3]], statePhase: "plain", residentBytes: nil)
  }

  private func link(
    _ step: LinkStepName, failed: LinkStepName? = nil, reason: String = "", transport: String = "bluez"
  ) -> LinkRecord {
    LinkRecord(
      id: "", transport: transport, address: "", role: .central, step: step, peer: nil, frameSize: nil, rssi: nil,
      queued: 0, sent: 0, received: 0, retransmitted: 0, sinceSeconds: 0,
      lastFailure: failed.map { .init(step: $0, reason: reason) })
  }

  private func misses(_ links: [LinkRecord]) -> [Bool] {
    guard case .answers(_, let links, _) = DaemonExamination.facts(status(uptime: 60, state: "poweredOn"), links) else {
      return []
    }
    return links.map(\.hasMissed)
  }

  @Test func dialThatNobodyAnsweredIsAMiss() {
    #expect(misses([link(.heard, failed: .connecting, reason: "le-connection-abort-by-local")]) == [true])
    #expect(misses([link(.connecting, failed: .heard)]) == [true])
    #expect(misses([link(.heard, failed: .discoveringService), link(.heard)]) == [false, false])
    #expect(misses([link(.ready, failed: .connecting)]) == [false])
    #expect(misses([link(.heard, failed: .connecting, reason: "all 5 links are in use")]) == [false])
    #expect(misses([link(.heard, failed: .connecting, transport: "local")]) == [])
  }

  @Test func transportOfAFreshDaemonIsStarting() {
    func state(_ uptime: Double, _ state: String) -> String? {
      guard
        case .answers(let transports, _, let refused) = DaemonExamination.facts(
          status(uptime: uptime, state: state), [])
      else { return nil }
      #expect(refused == 3)
      return transports.first?.state
    }
    #expect(state(1, "poweredOff") == "resetting")
    #expect(state(60, "poweredOff") == "poweredOff")
    #expect(state(1, "poweredOn") == "poweredOn")
    #expect(state(1, "unauthorized") == "unauthorized")
  }
}
