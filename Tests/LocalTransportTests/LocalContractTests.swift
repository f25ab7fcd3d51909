import TestKit
import Testing

@Suite struct LocalContractTests {
  @Test(arguments: TransportContract.clauses)
  func keepsTheContract(_ clause: TransportContract.Clause) async throws { try await clause.check(LocalHarness()) }
}
