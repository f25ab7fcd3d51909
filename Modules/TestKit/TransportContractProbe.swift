package import Transports

/// The helpers of the contract for tests of one transport: nodes that run, and links between them.
package enum TransportContractProbe {
  package struct Pair: Sendable {
    package let central: any TransportLink
    package let peripheral: any TransportLink
    let nodes: [ContractNode]
  }

  package static func nodes(_ harness: any TransportHarness, _ name: String) throws -> [any Transport] {
    [try harness.makeTransport(name)]
  }

  /// Runs the transports until `body` is done, at most as long as the harness allows.
  package static func running(
    _ harness: any TransportHarness, _ transports: [any Transport], _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    let nodes = transports.map { ContractNode(name: "node", transport: $0, address: harness.addressOfNobody) }
    try await TransportContract.running(harness, nodes, body)
  }

  /// Runs `ada` and `bob` with a link from one to the other.
  package static func linked(
    _ harness: any TransportHarness, _ body: @escaping @Sendable (Pair) async throws -> Void
  ) async throws {
    let nodes = try TransportContract.makeNodes(harness, "ada", "bob")
    try await TransportContract.running(harness, nodes) {
      let pair = try await TransportContract.link(nodes[0], nodes[1])
      try await body(Pair(central: pair.central, peripheral: pair.peripheral, nodes: nodes))
    }
  }

  /// Another link between the same nodes.
  package static func link(_ pair: Pair) async throws -> Pair {
    let again = try await TransportContract.link(pair.nodes[0], pair.nodes[1])
    return Pair(central: again.central, peripheral: again.peripheral, nodes: pair.nodes)
  }

  package static func frameSize(_ byteCount: Int, _ link: any TransportLink) async throws {
    try await TransportContract.awaitFrameSize(byteCount, link)
  }
}
