import MemoryTransport
import Streams
import Telemetry
import TestKit
import Testing
import Transports

@testable import Advertising

@Suite struct AdvertisementStateTests {
  @Test func nothingIsSaidBeforeThePower() {
    var state = AdvertisementState(hint: 5)
    let early = [state.occupied(LinkOccupancy(links: 0, limit: 1)), state.holds(digest: 3)]
    let on = state.powered(true)
    let again = state.powered(true)
    #expect(early == [nil, nil] && on == .advertise(Advertisement(hint: 5, digest: 3)) && again == nil)
  }

  @Test func whoIsFullIsSilent() {
    var state = AdvertisementState(hint: 5)
    _ = state.powered(true)
    let full = state.occupied(LinkOccupancy(links: 2, limit: 2))
    let digest = state.holds(digest: 9)
    let room = state.occupied(LinkOccupancy(links: 1, limit: 2))
    #expect(full == .stop && digest == nil && room == .advertise(Advertisement(hint: 5, digest: 9)))
  }

  @Test func afterItWasOffTheTransportIsToldAgain() {
    var state = AdvertisementState(hint: 5)
    let first = state.powered(true)
    let off = state.powered(false)
    let on = state.powered(true)
    #expect(first == on && off == nil && on != nil)
  }

  @Test func aRefusalIsAskedForAgainWithTheNewestContent() {
    var state = AdvertisementState(hint: 5)
    _ = state.powered(true)
    let again = state.refused()
    #expect(again == .advertise(Advertisement(hint: 5, digest: 0)))
    _ = state.powered(false)
    let whileOff = state.refused()
    #expect(whileOff == nil)
  }
}

@Suite struct AdvertiserTests {
  final class Heard: Sendable {
    private let list = Protected<[Advertisement]>([])
    func add(_ advertisement: Advertisement?) { list.withLock { $0 += advertisement.map { [$0] } ?? [] } }
    var all: [Advertisement] { list.withLock { $0 } }
  }

  @Test func aNodeIsHeardAgainAfterEveryPowerCycleAndNotWhileItIsFull() {
    let simulation = Simulation()
    let medium = MemoryMedium(time: simulation.time.source, seed: 1)
    let links = LinkCounter()
    let (ada, bob) = (
      medium.makeTransport(name: "ada") { links.next() }, medium.makeTransport(name: "bob") { links.next() }
    )
    medium.setReach("ada", "bob", true)
    let occupancy = Latest(LinkOccupancy(links: 0, limit: 2))
    let digest = Latest(UInt16(1))
    let advertiser = Advertiser(
      transports: [ada], hint: 77, occupancy: occupancy, digest: digest, time: simulation.time.source,
      log: Log(label: "test", threshold: .error, sink: MemoryLogSink()))
    let heard = Heard()
    let task = simulation.start {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? await ada.run() }
        group.addTask { try? await bob.run() }
        group.addTask { await advertiser.run() }
        group.addTask {
          for await state in bob.state where state == .poweredOn { try? await bob.scan(true) }
        }
        group.addTask { for await sighting in bob.sightings { heard.add(sighting.advertisement) } }
      }
    }
    func hears(_ wanted: UInt16) -> Bool {
      simulation.run(for: .seconds(20)) { heard.all.last == Advertisement(hint: 77, digest: wanted) }
    }
    #expect(hears(1))
    for round: UInt16 in 2...6 {
      ada.setPower(false)
      let before = heard.all.count
      digest.set(round)
      _ = simulation.run(for: .seconds(60))
      #expect(heard.all.count == before, "round \(round): heard although it is off")
      ada.setPower(true)
      #expect(hears(round), "round \(round)")
    }
    occupancy.set(LinkOccupancy(links: 2, limit: 2))
    _ = simulation.run(for: .seconds(1))
    let before = heard.all.count
    _ = simulation.run(for: .seconds(60))
    #expect(heard.all.count == before)
    digest.set(9)
    occupancy.set(LinkOccupancy(links: 1, limit: 2))
    #expect(hears(9))
    task.cancel()
    _ = simulation.run(for: .seconds(1))
  }
}
