import Streams
import TestKit
import Testing
import Transports

/// Two nodes, and how they find each other.
extension FakeHarness {
  /// Two nodes that hear each other.
  func withNodes(
    _ body: @escaping @Sendable (_ ada: any Transport, _ bob: any Transport) async throws -> Void
  ) async throws {
    let (ada, bob) = (makeTransport("ada"), makeTransport("bob"))
    try await TransportContractProbe.running(self, [ada, bob]) {
      try await ada.scan(true)
      try await bob.advertise(Advertisement(hint: 7, digest: 1))
      try await body(ada, bob)
    }
  }

  func dial(_ ada: any Transport) async -> Result<any TransportLink, TransportError> {
    for await sighting in ada.sightings where sighting.address == address(of: "bob") { break }
    do throws(TransportError) {
      return .success(try await ada.connect(to: address(of: "bob")) { _ in })
    } catch {
      return .failure(error)
    }
  }

  /// Dials until it works, as the links above do, and does something with the link. - Returns: what failed before.
  @discardableResult
  func insist(
    _ ada: any Transport, times: Int = 8, _ body: (any TransportLink) async throws -> Void = { _ in }
  ) async throws -> [TransportError] {
    var failures: [TransportError] = []
    for _ in 0..<times {
      switch await dial(ada) {
      case .success(let link):
        try await body(link)
        return failures
      case .failure(let error): failures.append(error)
      }
    }
    Issue.record("no link after \(times) dials: \(failures)")
    return failures
  }

  func reached(_ errors: [TransportError]) -> [DialStep] {
    errors.compactMap { error in
      if case .dialFailed(let step, _) = error { return step }
      return nil
    }
  }

  func awaitEnd(_ link: any TransportLink) async -> LinkEnd? {
    while await link.inputs.next() != nil {}
    return link.end
  }

  /// Lets the nodes' time pass until a claim holds. - Returns: whether it came to hold within the limit.
  func until(_ limit: Duration, _ claim: () async -> Bool) async -> Bool {
    let clock = context.time
    let end = clock.now().advanced(by: limit)
    while clock.now() < end {
      if await claim() { return true }
      try? await clock.sleep(clock.now().advanced(by: .milliseconds(200)))
    }
    return await claim()
  }
}
