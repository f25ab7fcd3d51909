internal import Streams
internal import Transports

/// How links end.
extension TransportContract {
  static let endClauses = [
    Clause(name: "theCentralCanClose") { harness in try await close(harness) { ($0.central, $0.peripheral) } },
    Clause(name: "thePeripheralCanClose") { harness in try await close(harness) { ($0.peripheral, $0.central) } },
    Clause(name: "bothClosingAtOnceIsFine") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        pair.central.close()
        pair.peripheral.close()
        try await awaitEnd(pair.central, .closedHere, .closedByPeer)
        try await awaitEnd(pair.peripheral, .closedHere, .closedByPeer)
      }
    },
    Clause(name: "framesBeforeACloseStillArrive") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        for number in 0..<20 { try await send(frame(number, byteCount: 30), on: pair.central) }
        pair.central.close()
        let numbers = try await awaitEnd(pair.peripheral, .closedByPeer).map(number)
        try require(numbers == Array(0..<20), "of 20 frames came \(numbers)")
      }
    },
    Clause(name: "aLinkIsLostOutOfReachAndCanBeMadeAgain") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        try harness.setReach("ada", "bob", false)
        try await awaitEnd(pair.central, .lost, .closedByPeer)
        try await awaitEnd(pair.peripheral, .lost, .closedByPeer)
        try require(pair.central.end == .lost || pair.peripheral.end == .lost, "neither end says that it was lost")
        let failure = await error { () throws(TransportError) in
          _ = try await nodes[0].transport.connect(to: nodes[1].address) { _ in }
        }
        guard case .dialFailed? = failure else { throw Broken("out of reach it gave \(String(describing: failure))") }
        try harness.setReach("ada", "bob", true)
        try await hear(nodes[0], nodes[1])
        let again = try await link(nodes[0], nodes[1])
        try await send([3], on: again.central)
        try require(try await nextFrame(again.peripheral) == [3], "the new link does not carry")
      }
    },
    Clause(name: "theEndOfRunClosesEveryLink") { harness in
      let nodes = try makeNodes(harness, "ada", "bob", "eve")
      try await running(harness, [nodes[1], nodes[2]]) {
        let pairs = try await running(harness, [nodes[0]]) {
          [try await link(nodes[0], nodes[1]), try await link(nodes[2], nodes[0])]
        }
        let ours = [pairs[0].central, pairs[1].peripheral]
        let theirs = [pairs[0].peripheral, pairs[1].central]
        for link in ours {
          try require(link.end == .transportStopped, "after run() a link's end is \(String(describing: link.end))")
          try await awaitEnd(link, .transportStopped)
          try require(link.send([1]) == .closed, "a link sends after the end of run()")
        }
        for link in theirs { try await awaitEnd(link, .lost, .closedByPeer) }
      }
    },
  ]

  private static func close(
    _ harness: any TransportHarness,
    _ choose: @escaping @Sendable (ContractPair) -> (any TransportLink, any TransportLink)
  ) async throws {
    let nodes = try makeNodes(harness, "ada", "bob")
    try await running(harness, nodes) {
      let (closing, other) = choose(try await link(nodes[0], nodes[1]))
      closing.close()
      try require(closing.send([1]) == .closed, "a closed link sends")
      closing.close()
      try await awaitEnd(closing, .closedHere)
      try await awaitEnd(other, .closedByPeer)
      closing.close()
      other.close()
      try require(closing.end == .closedHere && other.end == .closedByPeer, "closing again changed the end")
      try require(other.send([1]) == .closed, "a link that the peer closed sends")
    }
  }
}
