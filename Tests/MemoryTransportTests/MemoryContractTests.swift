import MemoryTransport
import Streams
import TestKit
import Testing
import Transports

/// Nodes of one medium, whose clock stands still: nothing here needs it to move.
final class MemoryHarness: TransportHarness {
  let medium = MemoryMedium(time: ManualTime().source, seed: 1)
  private let transports = Protected<[String: MemoryRadio]>([:])
  private let links = LinkCounter()

  func makeTransport(_ name: String) -> any Transport {
    let transport = medium.makeTransport(name: name) { [links] in links.next() }
    let others = transports.withLock { transports in
      defer { transports[name] = transport }
      return Array(transports.keys)
    }
    for other in others { medium.setReach(name, other, true) }
    return transport
  }

  func address(of name: String) -> TransportAddress { TransportAddress(name) }

  var addressOfNobody: TransportAddress { TransportAddress("nobody") }

  func setFrameSize(_ byteCount: Int, between one: String, _ other: String) {
    medium.setConditions(MemoryConditions(frameSize: byteCount), between: one, other)
  }

  func setReach(_ one: String, _ other: String, _ isInReach: Bool) { medium.setReach(one, other, isInReach) }

  func setPower(_ name: String, _ isOn: Bool) -> Bool {
    transports.withLock { $0[name] }?.setPower(isOn)
    return true
  }

  var canFill: Bool { false }

  func expire() async throws {
    let clock = ContinuousClock()
    try await clock.sleep(for: .seconds(20))
  }
}

@Suite struct MemoryContractTests {
  @Test(arguments: TransportContract.clauses)
  func keepsTheContract(_ clause: TransportContract.Clause) async throws { try await clause.check(MemoryHarness()) }
}
