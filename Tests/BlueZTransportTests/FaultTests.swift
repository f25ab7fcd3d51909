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

    @Test(arguments: ["abort 2", "abort-seen 2", "connect-in-progress 2", "wrong-bearer 2", "vanish 2"])
    func dialsThatFailAreToldAndLaterOnesWork(fault: String) async throws {
      #expect(harness.control("fault \(fault)") == "ok")
      try await harness.withNodes { ada, _ in
        let failures = try await harness.insist(ada)
        #expect(failures.count >= 1 && harness.reached(failures).allSatisfy { $0 <= .connect }, "\(failures)")
      }
    }

    @Test func framesThatOvertakeEachOtherStayInOrder() async throws {
      harness.control("fault overtake 3")
      let clause = TransportContract.clauses.first { $0.name == "framesArriveWholeInOrderAndOnce" }
      try await #require(clause).check(harness)
    }

    @Test func valuesGoByCallsWhereBlueZHandsOutNoSocket() async throws {
      harness.control("fault refused-sockets 1000000")
      let clause = TransportContract.clauses.first { $0.name == "framesArriveWholeInOrderAndOnce" }
      try await #require(clause).check(harness)
      #expect(harness.control("calls").contains("WriteValue"))
    }

    @Test func valuesGoOverASocketWhereBlueZHandsOutOne() async throws {
      let clause = TransportContract.clauses.first { $0.name == "framesArriveWholeInOrderAndOnce" }
      try await #require(clause).check(harness)
      let calls = harness.control("calls").split(separator: " ")
      #expect(calls.contains("AcquireWrite") && !calls.contains("WriteValue"), "\(calls)")
    }

    @Test(arguments: ["unresolved 1", "empty 1"])
    func serviceThatDoesNotShowEndsTheDial(fault: String) async throws {
      #expect(harness.control("fault \(fault)") == "ok")
      try await harness.withNodes { ada, _ in
        let failures = try await harness.insist(ada)
        #expect(harness.reached(failures).first == .connect, "\(failures)")
      }
    }

    @Test(arguments: ["discovery-in-progress 3", "advertisement-refused 2", "application-refused 2", "late 40"])
    func refusalsAtTheStartAreTriedAgain(fault: String) async throws {
      #expect(harness.control("fault \(fault)") == "ok")
      try await harness.withNodes { ada, _ in
        let failures = try await harness.insist(ada)
        #expect(failures.isEmpty)
      }
    }

    @Test func advertisementThatIsRefusedGoesBare() async throws {
      harness.control("fault advertisement-refused 2")
      try await harness.withNodes { ada, _ in
        for await sighting in ada.sightings where sighting.address == harness.address(of: "bob") {
          #expect(sighting.advertisement == nil, "without our part")
          break
        }
      }
    }

    @Test func controllerThatHoldsNoMoreSaysSo() async throws {
      harness.control("fault limit 0")
      try await harness.withNodes { ada, _ in
        guard case .failure(let error) = await harness.dial(ada) else {
          Issue.record("a link beyond the limit")
          return
        }
        #expect(harness.reached([error]) == [.scan])
        harness.control("fault limit 16")
        _ = try await harness.insist(ada)
      }
    }

    @Test(arguments: ["unplug 1", "unplug 1 rudely"])
    func adapterThatIsPulledOutEndsLinksAndComesBack(command: String) async throws {
      try await harness.withNodes { ada, bob in
        let link = try await harness.dial(ada).get()
        _ = await bob.inbound.next()
        harness.control(command)
        #expect(await harness.awaitEnd(link) == .lost)
        for await state in bob.state where state == .unsupported { break }
        harness.control("plug 1")
        for await state in bob.state where state == .poweredOn { break }
        try await bob.advertise(Advertisement(hint: 8, digest: 1))
        _ = try await harness.insist(ada)
      }
    }

    @Test func adapterThatAPersonSwitchedOffStaysOff() async throws {
      try await harness.withNodes { ada, bob in
        harness.control("power 1 off")
        for await state in bob.state where state == .poweredOff { break }
        _ = harness.control("inventory")
        #expect(bob.state.value == .poweredOff)
        harness.control("power 1 on")
        for await state in bob.state where state == .poweredOn { break }
        _ = try await harness.insist(ada)
      }
    }

    @Test func bluetoothdThatDiesAndComesBackIsTakenUpAgain() async throws {
      try await harness.withNodes { ada, bob in
        let link = try await harness.dial(ada).get()
        _ = await bob.inbound.next()
        harness.kill()
        #expect(await harness.awaitEnd(link) == .transportStopped)
        for await state in ada.state where state == .unsupported { break }
        #expect(harness.restart())
        for await state in ada.state where state == .poweredOn { break }
        for await state in bob.state where state == .poweredOn { break }
        try await ada.scan(true)
        try await bob.advertise(Advertisement(hint: 9, digest: 1))
        _ = try await harness.insist(ada)
      }
    }

    @Test func nothingIsLeftBehindByAHundredLinks() async throws {
      try await harness.withNodes { ada, bob in
        let first = try await harness.dial(ada).get()
        _ = await bob.inbound.next()
        harness.control("drop 0 1")
        _ = await harness.awaitEnd(first)
        let before = FileDescriptors.count
        for _ in 0..<100 {
          let link = try await harness.dial(ada).get()
          let other = await bob.inbound.next()
          harness.control("drop 0 1")
          #expect(await harness.awaitEnd(link) == .lost)
          if let other { _ = await harness.awaitEnd(other) }
        }
        #expect(abs(FileDescriptors.count - before) <= 2)
        let inventory = harness.control("inventory")
        #expect(inventory.hasPrefix("links=0 ") && inventory.contains(" applications=2 "), "\(inventory)")
      }
    }
  }
}
