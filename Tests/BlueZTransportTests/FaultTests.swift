import Streams
import TestKit
import Testing
import Transports

@testable import BlueZTransport

extension ThroughBlueZ {
  /// What BlueZ, the adapter and the air do wrong, one after the other, and what becomes of a node then.
  @Suite(.serialized) struct FaultTests {
    private let harness: FakeHarness

    init() throws { harness = try #require(FakeHarness()) }

    /// Two nodes that hear each other.
    private func withNodes(
      _ body: @escaping @Sendable (_ ada: any Transport, _ bob: any Transport) async throws -> Void
    ) async throws {
      let (ada, bob) = (harness.makeTransport("ada"), harness.makeTransport("bob"))
      try await TransportContractProbe.running(harness, [ada, bob]) {
        try await ada.scan(true)
        try await bob.advertise(Advertisement(hint: 7, digest: 1))
        try await body(ada, bob)
      }
    }

    private func dial(_ ada: any Transport) async -> Result<any TransportLink, TransportError> {
      for await sighting in ada.sightings where sighting.address == harness.address(of: "bob") { break }
      do throws(TransportError) {
        return .success(try await ada.connect(to: harness.address(of: "bob")) { _ in })
      } catch {
        return .failure(error)
      }
    }

    /// Dials until it works, as the links above do. - Returns: what failed before.
    private func insist(_ ada: any Transport, times: Int = 8) async throws -> [TransportError] {
      var failures: [TransportError] = []
      for _ in 0..<times {
        switch await dial(ada) {
        case .success: return failures
        case .failure(let error): failures.append(error)
        }
      }
      Issue.record("no link after \(times) dials: \(failures)")
      return failures
    }

    private func reached(_ errors: [TransportError]) -> [DialStep] {
      errors.compactMap { error in
        if case .dialFailed(let step, _) = error { return step }
        return nil
      }
    }

    @Test(arguments: ["abort 2", "abort-seen 2", "connect-in-progress 2", "wrong-bearer 2", "vanish 2"])
    func dialsThatFailAreToldAndLaterOnesWork(fault: String) async throws {
      #expect(harness.control("fault \(fault)") == "ok")
      try await withNodes { ada, _ in
        let failures = try await insist(ada)
        #expect(failures.count >= 1 && reached(failures).allSatisfy { $0 <= .connect }, "\(failures)")
      }
    }

    @Test(arguments: ["unresolved 1", "empty 1"])
    func serviceThatDoesNotShowEndsTheDial(fault: String) async throws {
      #expect(harness.control("fault \(fault)") == "ok")
      try await withNodes { ada, _ in
        let failures = try await insist(ada)
        #expect(reached(failures).first == .connect, "\(failures)")
      }
    }

    @Test(arguments: ["discovery-in-progress 3", "advertisement-refused 2", "application-refused 2", "late 40"])
    func refusalsAtTheStartAreTriedAgain(fault: String) async throws {
      #expect(harness.control("fault \(fault)") == "ok")
      try await withNodes { ada, _ in
        let failures = try await insist(ada)
        #expect(failures.isEmpty)
      }
    }

    @Test func advertisementThatIsRefusedGoesBare() async throws {
      harness.control("fault advertisement-refused 2")
      try await withNodes { ada, _ in
        for await sighting in ada.sightings where sighting.address == harness.address(of: "bob") {
          #expect(sighting.advertisement == nil, "without our part")
          break
        }
      }
    }

    @Test func controllerThatHoldsNoMoreSaysSo() async throws {
      harness.control("fault limit 0")
      try await withNodes { ada, _ in
        guard case .failure(let error) = await dial(ada) else {
          Issue.record("a link beyond the limit")
          return
        }
        #expect(reached([error]) == [.scan])
        harness.control("fault limit 16")
        _ = try await insist(ada)
      }
    }

    private func awaitEnd(_ link: any TransportLink) async -> LinkEnd? {
      while await link.inputs.next() != nil {}
      return link.end
    }

    @Test(arguments: ["unplug 1", "unplug 1 rudely"])
    func adapterThatIsPulledOutEndsLinksAndComesBack(command: String) async throws {
      try await withNodes { ada, bob in
        let link = try await dial(ada).get()
        _ = await bob.inbound.next()
        harness.control(command)
        #expect(await awaitEnd(link) == .lost)
        for await state in bob.state where state == .unsupported { break }
        harness.control("plug 1")
        for await state in bob.state where state == .poweredOn { break }
        try await bob.advertise(Advertisement(hint: 8, digest: 1))
        _ = try await insist(ada)
      }
    }

    @Test func adapterThatAPersonSwitchedOffStaysOff() async throws {
      try await withNodes { ada, bob in
        harness.control("power 1 off")
        for await state in bob.state where state == .poweredOff { break }
        _ = harness.control("inventory")
        #expect(bob.state.value == .poweredOff)
        harness.control("power 1 on")
        for await state in bob.state where state == .poweredOn { break }
        _ = try await insist(ada)
      }
    }

    @Test func bluetoothdThatDiesAndComesBackIsTakenUpAgain() async throws {
      try await withNodes { ada, bob in
        let link = try await dial(ada).get()
        _ = await bob.inbound.next()
        harness.kill()
        #expect(await awaitEnd(link) == .transportStopped)
        for await state in ada.state where state == .unsupported { break }
        #expect(harness.restart())
        for await state in ada.state where state == .poweredOn { break }
        for await state in bob.state where state == .poweredOn { break }
        try await ada.scan(true)
        try await bob.advertise(Advertisement(hint: 9, digest: 1))
        _ = try await insist(ada)
      }
    }

    @Test func nothingIsLeftBehindByAHundredLinks() async throws {
      try await withNodes { ada, bob in
        let first = try await dial(ada).get()
        _ = await bob.inbound.next()
        harness.control("drop 0 1")
        _ = await awaitEnd(first)
        let before = FileDescriptors.count
        for _ in 0..<100 {
          let link = try await dial(ada).get()
          let other = await bob.inbound.next()
          harness.control("drop 0 1")
          #expect(await awaitEnd(link) == .lost)
          if let other { _ = await awaitEnd(other) }
        }
        #expect(abs(FileDescriptors.count - before) <= 2)
        let inventory = harness.control("inventory")
        #expect(inventory.hasPrefix("links=0 ") && inventory.hasSuffix("applications=2"), "\(inventory)")
      }
    }
  }
}
