import TestKit
import Testing

extension ThroughBlueZ {
  /// The contract of every transport, through a stand-in for BlueZ on a real bus, with both kinds of controllers.
  @Suite(.serialized) struct ContractTests {
    @Test(arguments: TransportContract.clauses)
    func keepsTheContract(_ clause: TransportContract.Clause) async throws {
      try await clause.check(try #require(FakeHarness()))
    }
  }
}
