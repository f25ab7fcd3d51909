internal import Streams
internal import Transports

/// State, advertising and scanning.
extension TransportContract {
  static let stateClauses = [
    Clause(name: "stateIsToldBeforeAnythingElse") { harness in
      let nodes = try makeNodes(harness, "ada")
      try require(nodes[0].transport.state.value != .poweredOn, "a transport is on that does not run")
      try await running(harness, nodes) {
        try require(nodes[0].transport.state.value == .poweredOn, "the newest state is not the one told")
      }
      try require(nodes[0].transport.state.value == .poweredOff, "after run() the state is not .poweredOff")
    },
    Clause(name: "nothingIsDoneBeforePoweredOn") { harness in
      let transport = try harness.makeTransport("ada")
      let advertising = await error { () throws(TransportError) in
        try await transport.advertise(Advertisement(hint: 1, digest: 2))
      }
      try require(advertising == .notPoweredOn, "advertise gave \(String(describing: advertising))")
      let scanning = await error { () throws(TransportError) in try await transport.scan(true) }
      try require(scanning == .notPoweredOn, "scan gave \(String(describing: scanning))")
      let address = harness.address(of: "bob")
      let dial = await error { () throws(TransportError) in _ = try await transport.connect(to: address) { _ in } }
      try require(dial == .notPoweredOn, "connect gave \(String(describing: dial))")
    },
    Clause(name: "propertiesAreUsable") { harness in
      let properties = try harness.makeTransport("ada").properties
      try require(!properties.scheme.isEmpty && !properties.name.isEmpty, "scheme and name are not empty")
      try require(properties.bytesPerSecond > 0 && properties.linkLimit > 0, "rate and limit are positive")
    },
    Clause(name: "whatIsAdvertisedIsHeard") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        try await nodes[0].transport.scan(true)
        try await nodes[1].transport.advertise(Advertisement(hint: 0xDEAD_BEEF, digest: 0xFFFE))
        let sighting = try await hear(nodes[0], nodes[1])
        if let heard = sighting.advertisement {
          try require(heard == Advertisement(hint: 0xDEAD_BEEF, digest: 0xFFFE), "heard \(heard)")
        }
        try require(sighting.address.description.utf8.count <= 64, "an address has 64 bytes at most")
      }
    },
    Clause(name: "whoScansLaterHearsWhoAdvertisesAlready") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        try await nodes[1].transport.advertise(Advertisement(hint: 0, digest: 0))
        try await nodes[0].transport.scan(true)
        try await hear(nodes[0], nodes[1])
        try await nodes[0].transport.scan(false)
        try await nodes[0].transport.scan(true)
        try await hear(nodes[0], nodes[1])
      }
    },
    Clause(name: "aNewAdvertisementReplacesTheFormer") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        try await nodes[0].transport.scan(true)
        try await nodes[1].transport.advertise(Advertisement(hint: 5, digest: 1))
        try await hear(nodes[0], nodes[1])
        try await nodes[1].transport.advertise(Advertisement(hint: 5, digest: 2))
        try await hear(nodes[0], nodes[1]) { $0.advertisement == nil || $0.advertisement?.digest == 2 }
        try await nodes[1].transport.advertise(nil)
        try await nodes[1].transport.advertise(Advertisement(hint: 5, digest: 3))
        try await hear(nodes[0], nodes[1]) { $0.advertisement == nil || $0.advertisement?.digest == 3 }
      }
    },
    Clause(name: "runCanBeCalledAgain") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, [nodes[1]]) {
        for round in 1...3 {
          try await running(harness, [nodes[0]]) {
            let pair = try await link(nodes[0], nodes[1], hint: UInt32(round))
            try await send(frame(round, byteCount: 20), on: pair.central)
            let heard = try await nextFrame(pair.peripheral)
            try require(heard == frame(round, byteCount: 20), "the frame of round \(round) differs")
          }
          let state = nodes[0].transport.state.value
          try require(state == .poweredOff, "after run() the state is \(state)")
          let scanning = await error { () throws(TransportError) in try await nodes[0].transport.scan(true) }
          try require(scanning == .notPoweredOn, "after run() scan gave \(String(describing: scanning))")
          try await harness.awaitDeparture(of: "ada")
        }
      }
    },
    Clause(name: "switchedOffEndsLinksAndSwitchedOnWorksAgain") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        guard harness.setPower("ada", false) else { return }
        try await awaitState(.poweredOff, of: nodes[0])
        try await awaitEnd(pair.central, .transportStopped)
        try await awaitEnd(pair.peripheral, .lost, .closedByPeer)
        let dial = await error { () throws(TransportError) in
          _ = try await nodes[0].transport.connect(to: nodes[1].address) { _ in }
        }
        try require(dial == .notPoweredOn, "connect gave \(String(describing: dial))")
        _ = harness.setPower("ada", true)
        try await awaitState(.poweredOn, of: nodes[0])
        _ = try await link(nodes[0], nodes[1])
      }
    },
  ]
}
