internal import Streams
internal import Transports

/// How links come to be.
extension TransportContract {
  static let dialClauses = [
    Clause(name: "aDialReportsItsStepsInOrder") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        try await nodes[1].transport.advertise(Advertisement(hint: 7, digest: 1))
        try await nodes[0].transport.scan(true)
        try await hear(nodes[0], nodes[1])
        let steps = Protected<[DialStep]>([])
        _ = try await nodes[0].transport.connect(to: nodes[1].address) { step in
          steps.withLock { $0.append(step) }
        }
        let told = steps.withLock { $0 }
        let wanted: [DialStep] = [.connect, .discoverService, .discoverCharacteristic, .subscribe]
        try require(told.filter { $0 >= .connect } == wanted, "the steps were \(told)")
        try require(told == told.sorted(), "the steps came as \(told)")
      }
    },
    Clause(name: "aFailedDialNamesItsStep") { harness in
      let nodes = try makeNodes(harness, "ada")
      try await running(harness, nodes) {
        let steps = Protected<[DialStep]>([])
        let failure = await error { () throws(TransportError) in
          _ = try await nodes[0].transport.connect(to: harness.addressOfNobody) { step in
            steps.withLock { $0.append(step) }
          }
        }
        guard case .dialFailed(let reached, let reason)? = failure else {
          throw Broken("a dial to nobody gave \(String(describing: failure))")
        }
        try require(!reason.isEmpty, "a failed dial has a reason")
        let last = steps.withLock { $0.last }
        try require(reached < .connect, "a dial to nobody reached \(reached)")
        try require(last == nil || last == reached, "it told \(String(describing: last)) and failed after \(reached)")
      }
    },
    Clause(name: "aPeerThatHasStoppedCannotBeDialled") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, [nodes[0]]) {
        try await running(harness, [nodes[1]]) { _ = try await link(nodes[0], nodes[1]) }
        let failure = await error { () throws(TransportError) in
          _ = try await nodes[0].transport.connect(to: nodes[1].address) { _ in }
        }
        guard case .dialFailed? = failure else { throw Broken("the dial gave \(String(describing: failure))") }
      }
    },
    Clause(name: "whoDialsIsCentralAndTheOtherPeripheral") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let pair = try await link(nodes[0], nodes[1])
        try require(pair.central.role == .central, "who dialled is \(pair.central.role)")
        try require(pair.peripheral.role == .peripheral, "who was dialled is \(pair.peripheral.role)")
        try require(pair.central.address == nodes[1].address, "the address is \(pair.central.address)")
        try require(pair.central.end == nil && pair.peripheral.end == nil, "an open link has an end")
        let sizes = [pair.central.frameSize, pair.peripheral.frameSize]
        try require(sizes.allSatisfy { $0 >= TransportsLimits.smallestFrame }, "the frame sizes are \(sizes)")
      }
    },
    Clause(name: "linkNumbersAreUnique") { harness in
      let nodes = try makeNodes(harness, "ada", "bob", "eve")
      try await running(harness, nodes) {
        var seen: [LinkID] = []
        for _ in 0..<5 {
          for (central, peripheral) in [(0, 1), (1, 2), (2, 0), (1, 0)] {
            let pair = try await link(nodes[central], nodes[peripheral])
            seen += [pair.central.id, pair.peripheral.id]
            pair.central.close()
            try await awaitEnd(pair.central, .closedHere)
            try await awaitEnd(pair.peripheral, .closedByPeer)
          }
        }
        try require(Set(seen).count == seen.count, "a link number came twice: \(seen)")
      }
    },
    Clause(name: "bothMayDialEachOther") { harness in
      let nodes = try makeNodes(harness, "ada", "bob")
      try await running(harness, nodes) {
        let one = try await link(nodes[0], nodes[1])
        guard harness.canHoldTwoLinks else {
          let dial = await error { () throws(TransportError) in
            _ = try await nodes[1].transport.connect(to: nodes[0].address) { _ in }
          }
          guard case .dialFailed = dial else { throw Broken("a second link gave \(String(describing: dial))") }
          try await send([1, 1, 1], on: one.central)
          try require(try await nextFrame(one.peripheral) == [1, 1, 1], "the first link does not carry any more")
          return
        }
        let other = try await link(nodes[1], nodes[0])
        try await send([1, 1, 1], on: one.central)
        try await send([2, 2, 2], on: other.central)
        try require(try await nextFrame(other.peripheral) == [2, 2, 2], "the links are mixed up")
        try require(try await nextFrame(one.peripheral) == [1, 1, 1], "the links are mixed up")
      }
    },
    Clause(name: "aDialCancelledAtTheStartLeavesNoLink") { harness in
      try await cancelDial(harness, after: nil)
    },
    Clause(name: "aDialCancelledUnderWayLeavesNoLink") { harness in
      for step in [DialStep.scan, .connect, .discoverService, .discoverCharacteristic, .subscribe] {
        try await cancelDial(harness, after: step)
      }
    },
  ]

  /// Cancels a dial when it has told `step`, then dials once more: every link that the peer was told of and that is
  /// not the last one must end.
  private static func cancelDial(_ harness: any TransportHarness, after step: DialStep?) async throws {
    let suffix = step.map { "-\($0.rawValue)" } ?? ""
    let nodes = try makeNodes(harness, "ada\(suffix)", "bob\(suffix)")
    try await running(harness, nodes) {
      try await nodes[1].transport.advertise(Advertisement(hint: 7, digest: 1))
      try await nodes[0].transport.scan(true)
      try await hear(nodes[0], nodes[1])
      let reached = Channel<Void>(capacity: 8)
      if step == nil { reached.offer(()) }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          let link = try? await nodes[0].transport.connect(to: nodes[1].address) { told in
            if told == step { reached.offer(()) }
          }
          // It may win the race; whoever gets a link owns it.
          link?.close()
        }
        _ = await reached.next()
        group.cancelAll()
      }
      let last = try await nodes[0].transport.connect(to: nodes[1].address) { _ in }
      try await send([42], on: last)
      while let link = await nodes[1].transport.inbound.next() {
        if case .frame([42])? = await link.inputs.next() { return }
        try require(link.end != nil, "a dial that was cancelled left its link open at the peer")
      }
      throw Broken("a dial that was cancelled left its link open at the peer")
    }
  }
}
