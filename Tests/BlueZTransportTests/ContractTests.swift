import TestKit
import Testing

extension ThroughBlueZ {
  /// The contract of every transport, through a stand-in for BlueZ on a real bus, with both kinds of controllers.
  @Suite(.serialized) struct ContractTests {
    @Test(arguments: TransportContract.clauses, [false, true])
    func keepsTheContract(_ clause: TransportContract.Clause, overSockets: Bool) async throws {
      let harness = try #require(FakeHarness())
      harness.usesSockets = overSockets
      try await clause.check(harness)
    }
  }
}
