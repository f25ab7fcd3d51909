import DBusKit
import FakeBlueZ
import Streams
import TestKit
import Testing
import Transports

@testable import BlueZTransport

extension ThroughBlueZ {
  /// What is left of the table of faults: others at the same adapter, objects that go, restarts, power at bad times.
  @Suite(.serialized) struct FaultTableTests {
    private let harness: FakeHarness

    init() throws { harness = try #require(FakeHarness()) }

    @Test func foreignDeviceThatSaysNothingIsLeftAloneAndCounted() async throws {
      try await harness.withNodes { ada, bob in
        harness.control("foreign 9 1")
        let radio = bob as? BlueZRadio
        let isCounted = await harness.until(.seconds(30)) { radio?.counters["foreignDevices"] == 1 }
        #expect(isCounted)
        try await harness.insist(ada)
        _ = await harness.until(.seconds(30)) { false }
        #expect(harness.control("linked 9 1") == "yes", "it may belong to another program")
      }
    }

    @Test func deviceThatWritesGarbageLosesItsSlotAndNotOurs() async throws {
      try await harness.withNodes { ada, bob in
        let link = try await harness.dial(ada).get()
        harness.control("foreign 9 1")
        harness.control("garbage 9 1 40")
        let radio = bob as? BlueZRadio
        let isSentAway = await harness.until(.seconds(20)) { harness.control("linked 9 1") == "no" }
        #expect(isSentAway)
        #expect(radio?.counters["garbageWriters"] == 1)
        #expect(link.end == nil && harness.control("linked 0 1") == "yes")
      }
    }

    /// Says of a device, under a name that does not own BlueZ', that it is gone.
    private func lie(about path: String) async throws {
      let liar = try await DBusConnection.open(.address(harness.bus.address), time: harness.context.time)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await liar.run() }
        try await liar.send(
          .signal(
            path, BlueZNames.properties, "PropertiesChanged",
            [.string(BlueZNames.device), .properties(["Connected": .boolean(false)]), .array(element: "s", [])]))
        try await liar.send(
          .signal(
            "/", BlueZNames.objectManager, "InterfacesRemoved",
            [.objectPath(path), .strings([BlueZNames.device])]))
        // The bus answers in order: by then it has passed both on.
        _ = try await liar.call(
          .call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetId"))
        group.cancelAll()
      }
    }

    @Test func changesThatAnotherProgramClaimsAreIgnored() async throws {
      try await harness.withNodes { ada, _ in
        let link = try await harness.dial(ada).get()
        try await lie(about: "/org/bluez/hci0/dev_00_B1_1E_00_00_01")
        _ = await harness.until(.seconds(2)) { link.end != nil }
        #expect(link.end == nil)
      }
    }

    @Test func deviceObjectThatIsRemovedEndsTheLinkAndANewSightingBringsIt() async throws {
      try await harness.withNodes { ada, bob in
        let link = try await harness.dial(ada).get()
        _ = await bob.inbound.next()
        harness.control("remove 0 1")
        #expect(await harness.awaitEnd(link) == .lost)
        try await harness.insist(ada)
      }
    }

    @Test func databaseThatChangesUnderALinkDoesNotEndIt() async throws {
      try await harness.withNodes { ada, bob in
        let link = try await harness.dial(ada).get()
        guard let other = await bob.inbound.next() else { return }
        for round in 0..<3 {
          harness.control("service-changed 1")
          _ = await harness.until(.seconds(3)) { false }
          #expect(link.end == nil && other.end == nil, "round \(round)")
        }
        #expect(link.send([1, 2, 3]) == .sent)
        while let input = await other.inputs.next() {
          guard case .frame(let frame) = input else { continue }
          #expect(frame == [1, 2, 3])
          break
        }
      }
    }

    @Test func connectThatIsNeverAnsweredIsGivenUp() async throws {
      harness.control("fault hang 1")
      try await harness.withNodes { ada, _ in
        let failures = try await harness.insist(ada)
        #expect(harness.reached(failures) == [.scan], "\(failures)")
      }
    }

    @Test func bluetoothdThatEndsInOrderIsTakenUpAgain() async throws {
      try await harness.withNodes { ada, bob in
        let link = try await harness.dial(ada).get()
        _ = await bob.inbound.next()
        harness.stop()
        #expect(await harness.awaitEnd(link) != nil)
        for await state in ada.state where state == .unsupported { break }
        #expect(harness.restart())
        for radio in [ada, bob] { for await state in radio.state where state == .poweredOn { break } }
        try await ada.scan(true)
        try await bob.advertise(Advertisement(hint: 9, digest: 1))
        try await harness.insist(ada)
      }
    }

    @Test func connectionThatTheKernelKeptOverACrashIsClearedAway() async throws {
      try await harness.withNodes { ada, bob in
        _ = try await harness.dial(ada).get()
        harness.kill()
        for await state in ada.state where state == .unsupported { break }
        #expect(harness.restart())
        harness.control("stale 1 0 \(BlueZNames.serviceUUID)")
        for radio in [ada, bob] { for await state in radio.state where state == .poweredOn { break } }
        try await ada.scan(true)
        try await bob.advertise(Advertisement(hint: 9, digest: 1))
        let isCleared = await harness.until(.seconds(60)) { harness.control("linked 0 1") == "no" }
        #expect(isCleared)
        try await harness.insist(ada)
      }
    }

    /// A connection that is gone may still be told as lost; whoever closes its link then waits for no second word of it.
    @Test func linkThatIsClosedWhileItIsLostLeavesThePeerInReach() async throws {
      try await harness.withNodes { ada, bob in
        for _ in 0..<20 {
          try await harness.insist(ada) { link in
            guard let other = await bob.inbound.next() else { return }
            harness.control("drop 0 1")
            other.close()
            link.close()
            _ = await (harness.awaitEnd(link), harness.awaitEnd(other))
          }
        }
      }
    }

    @Test func devicesThatAreReportedOnceAreDialledAgainToo() async throws {
      harness.control("fault report-once 1")
      try await harness.withNodes { ada, bob in
        for round in 0..<3 {
          let link = try await harness.dial(ada).get()
          _ = await bob.inbound.next()
          harness.control("drop 0 1")
          #expect(await harness.awaitEnd(link) == .lost, "round \(round)")
        }
      }
    }

    @Test func everyAdvertisingInstanceTakenMeansWaitingForOne() async throws {
      harness.control("occupy 1 5")
      try await harness.withNodes { ada, bob in
        _ = await harness.until(.seconds(10)) { false }
        #expect(bob.state.value == .poweredOn)
        harness.control("occupy 1 4")
        for await sighting in ada.sightings where sighting.address == harness.address(of: "bob") {
          #expect(sighting.advertisement?.hint == 7, "with our part: leaving it out would not have helped")
          break
        }
      }
    }

    /// No adapter is named, and there are others: what is in use stays in use, and nothing is left behind at one that is not.
    @Test func adapterThatComesBackCutsNothingAndOneThatIsLeftFallsSilent() async throws {
      let (ada, _) = (harness.radio("ada", isNamed: false), harness.number(of: "spare"))
      let bob = harness.makeTransport("bob")
      try await TransportContractProbe.running(harness, [ada, bob]) {
        try await ada.scan(true)
        try await ada.advertise(Advertisement(hint: 3, digest: 1))
        try await bob.advertise(Advertisement(hint: 7, digest: 1))
        harness.control("unplug 0")
        try await harness.insist(ada) { link in
          harness.control("plug 0")
          harness.control("power 0 on")
          _ = await harness.until(.seconds(20)) { false }
          #expect(link.end == nil, "it holds")
          #expect(harness.control("linked 1 2") == "yes" && harness.control("listened 0") == "0")
          harness.control("power 1 off")
          #expect(await harness.awaitEnd(link) != nil)
        }
        harness.control("power 1 on")
        let isLeft = await harness.until(.seconds(30)) {
          harness.control("inventory").contains("applications=2 ") && ada.state.value == .poweredOn
        }
        #expect(isLeft, "\(harness.control("inventory"))")
        try await harness.insist(ada)
        #expect(harness.control("linked 0 2") == "yes")
      }
    }

    @Test func blockedAdapterIsNotFoughtAndComesBackByItself() async throws {
      harness.control("block 0 on")
      let ada = harness.radio("ada", mayPower: true)
      try await TransportContractProbe.running(harness, [harness.makeTransport("bob")]) {
        await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await ada.run() }
          for await state in ada.state where state == .poweredOff { break }
          _ = await harness.until(.seconds(40)) { false }
          #expect(ada.state.value == .poweredOff)
          harness.control("block 0 off")
          for await state in ada.state where state == .poweredOn { break }
          group.cancelAll()
        }
      }
    }

    @Test(arguments: [0, 20, 60, 120, 250])
    func powerThatDropsWhileStateIsRestoredLeavesNothingHalfDone(milliseconds: Int64) async throws {
      harness.control("fault late 100")
      try await harness.withNodes { ada, bob in
        for _ in 0..<3 {
          harness.control("power 1 off")
          for await state in bob.state where state == .poweredOff { break }
          harness.control("power 1 on")
          let time = harness.context.time
          try? await time.sleep(time.now().advanced(by: BlueZLimits.afterPowerOn + .milliseconds(milliseconds)))
        }
        for await state in bob.state where state == .poweredOn { break }
        try await harness.insist(ada)
        harness.control("drop 0 1")
        let inventory = harness.control("inventory")
        #expect(inventory.contains("applications=2"), "\(inventory)")
      }
    }

    /// Share of the time that an adapter listens over two minutes of the nodes' time.
    private func measuredDuty(_ number: Int) async -> Double {
      func listened() -> Double { Double(harness.control("listened \(number)")).map { $0 * FakeHarness.speed } ?? -1 }
      let time = harness.context.time
      let (before, start) = (listened(), time.now())
      _ = await harness.until(.seconds(123)) { false }
      return (listened() - before) / Double(time.now().milliseconds(since: start))
    }

    @Test func listeningIsFullWhenLonelyAndAThirdWithALink() async throws {
      try await harness.withNodes { ada, _ in
        let lonely = await measuredDuty(0)
        #expect(lonely > 0.95)
        try await harness.insist(ada)
        _ = await harness.until(BlueZLimits.scanAfterChange + .seconds(5)) { false }
        let linked = await measuredDuty(0)
        #expect((0.25...0.45).contains(linked), "\(linked)")
      }
    }

    @Test func exposed_radioAddressOfANodeIsThatOfItsAdapterAndStays() async throws {
      var hints: [UInt32?] = []
      for hint in [11, 22] as [UInt32] {
        let (ada, bob) = (harness.makeTransport("ada"), harness.makeTransport("bob"))
        let seen = Protected<Sighting?>(nil)
        try await TransportContractProbe.running(harness, [ada, bob]) {
          try await ada.scan(true)
          try await bob.advertise(Advertisement(hint: hint, digest: 1))
          for await sighting in ada.sightings where sighting.advertisement?.hint == hint {
            seen.withLock { $0 = sighting }
            break
          }
        }
        let sighting = try #require(seen.withLock { $0 })
        #expect(sighting.address == harness.address(of: "bob"))
        hints.append(sighting.advertisement?.hint)
      }
      #expect(hints == [11, 22], "what changes with every start is only the hint")
    }

    @Test func nobodyEverAsksToPair() async throws {
      try await harness.withNodes { ada, bob in
        for fault in ["unresolved 1", "empty 1", "wrong-bearer 1", "abort 1"] {
          harness.control("fault \(fault)")
          try await harness.insist(ada)
          harness.control("drop 0 1")
        }
        let inventory = harness.control("inventory")
        #expect(inventory.hasSuffix("pairings=0"), "\(inventory)")
      }
    }
  }
}
