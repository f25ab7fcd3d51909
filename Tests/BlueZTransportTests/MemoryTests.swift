import DBusKit
import FakeBlueZ
import Streams
import TestKit
import Testing
import Transports

@testable import BlueZTransport

struct CeilingMemoryTests {
  @Test func whatIsKeptComesBack() {
    for links in BlueZLimits.fewestLinks...BlueZLimits.mostLinks {
      let ceiling = LinkCeiling(links: links, now: .start)
      #expect(LinkCeiling(kept: ceiling.kept, now: .start) == ceiling)
    }
  }

  @Test func anyBytesAreACeilingOrNone() {
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max {
        if let ceiling = LinkCeiling(kept: [first, second], now: .start) {
          #expect(first == 1 && (BlueZLimits.fewestLinks...BlueZLimits.mostLinks).contains(ceiling.links))
        }
      }
    }
    #expect(LinkCeiling(kept: [], now: .start) == nil && LinkCeiling(kept: [1, 5, 0], now: .start) == nil)
  }
}

extension ThroughBlueZ {
  /// What is known of an adapter again after the daemon was started anew.
  @Suite(.serialized) struct MemoryTests {
    private let harness: FakeHarness
    private let kept = Shelf()

    init() throws { harness = try #require(FakeHarness(adapters: 3)) }

    /// Outlives the transports.
    private final class Shelf: Sendable {
      private let values = Protected<[String: [UInt8]]>([:])

      subscript(key: String) -> [UInt8]? {
        get { values.withLock { $0[key] } }
        set { values.withLock { $0[key] = newValue } }
      }
    }

    private func ada() -> BlueZRadio {
      var context = harness.context
      context.memory = TransportMemory(
        recall: { [kept] in kept[$0] },
        keep: { [kept] in kept[$0] = $1 })
      var configuration = BlueZRadio.Configuration()
      configuration.bus = .address(harness.bus.address)
      configuration.adapter = "hci\(harness.number(of: "ada"))"
      return BlueZRadio(configuration: configuration, context: context)
    }

    private func dial(_ name: String, from ada: BlueZRadio) async -> Result<any TransportLink, TransportError> {
      for await sighting in ada.sightings where sighting.address == harness.address(of: name) { break }
      do throws(TransportError) {
        return .success(try await ada.connect(to: harness.address(of: name)) { _ in })
      } catch {
        return .failure(error)
      }
    }

    @Test func ceilingThatWasLearnedHoldsAfterARestart() async throws {
      let (before, bob, eve) = (ada(), harness.makeTransport("bob"), harness.makeTransport("eve"))
      harness.control("fault limit 0")
      try await TransportContractProbe.running(harness, [before, bob]) {
        try await before.scan(true)
        try await bob.advertise(Advertisement(hint: 7, digest: 1))
        _ = await dial("bob", from: before)
      }
      #expect(before.counters["failedDials"] == 1)
      let key = "ceiling/\(harness.address(of: "ada"))"
      #expect(kept[key] == [1, UInt8(BlueZLimits.fewestLinks)])
      harness.control("fault limit 16")
      let after = ada()
      try await TransportContractProbe.running(harness, [after, bob, eve]) {
        try await after.scan(true)
        try await bob.advertise(Advertisement(hint: 7, digest: 1))
        try await eve.advertise(Advertisement(hint: 8, digest: 1))
        _ = try await dial("bob", from: after).get()
        guard case .failure(let error) = await dial("eve", from: after) else {
          Issue.record("more links than the controller is known to hold")
          return
        }
        #expect(error == .noFreeLink(limit: BlueZLimits.fewestLinks))
      }
    }

    @Test func aFullMemoryOfAnotherVersionIsNoHindrance() async throws {
      kept["ceiling/\(harness.address(of: "ada"))"] = [9, 9, 9]
      let (ada, bob) = (ada(), harness.makeTransport("bob"))
      try await TransportContractProbe.running(harness, [ada, bob]) {
        try await ada.scan(true)
        try await bob.advertise(Advertisement(hint: 7, digest: 1))
        _ = try await dial("bob", from: ada).get()
      }
    }
  }
}
