import Testing

@testable import MeshSim

/// The radio and the arithmetic below it.
@Suite struct ModelTests {
  @Test func anExchangeTakesWhatBluetoothSays() {
    // One data unit of 251 bytes and an empty one at 1 Mbit/s.
    #expect(AirModel.exchange(244, nil) == 2_468_000)
    #expect(AirModel.exchange(nil, 20) == 676_000)
    // Both ways: no empty unit.
    #expect(AirModel.exchange(244, 244) == 2 * 2_088_000 + 300_000)
    // 516 bytes go in three units.
    #expect(AirModel.exchange(509, nil) == 2 * 2_468_000 + 572_000)
  }

  @Test func theNextEventIsNeverBeforeItsTime() {
    for latency in [AirModel.Latency.fixedPhase, .memoryless] {
      var air = AirModel()
      air.latency = latency
      var generator = Scenario.generator(1, 1)
      for _ in 0..<50 {
        let clock = LinkClock(air, generator: &generator)
        var time: UInt64 = 0
        for _ in 0..<100 {
          let next = clock.next(from: time)
          #expect(next >= time && next - time <= 2 * clock.interval)
          #expect(clock.next(from: next) == next)
          time = next + 1
        }
      }
    }
  }

  @Test func eventsComeInOrder() {
    var queue = EventQueue()
    var generator = Scenario.generator(3, 1)
    for number in 0..<5_000 { queue.add(.arrival, at: .random(in: 0..<500, using: &generator), number) }
    var last: (UInt64, Int32) = (0, -1)
    var count = 0
    while let event = queue.popFirst() {
      #expect(event.time > last.0 || (event.time == last.0 && event.a > last.1))
      last = (event.time, event.a)
      count += 1
    }
    #expect(count == 5_000)
  }

  @Test func theLogarithmIsOne() {
    for (value, expected) in [
      (1.0, 0.0), (2.718_281_828_459_045, 1), (10, 2.302_585_092_994_046), (1e-9, -20.723_265_836_946_41),
    ] {
      #expect(abs(Numbers.logarithm(value) - expected) < 1e-13)
    }
    #expect(abs(Numbers.signal(metres: 30) + 76.928) < 0.001)
  }

  @Test func everyScenarioIsConnectedAndWithinItsCap() throws {
    for entry in Catalogue.entries where !entry.name.contains("5000") {
      let scenario = try #require(Catalogue.scenario(entry.name, seed: 1))
      #expect(scenario.name == entry.name)
      guard scenario.walk == nil else { continue }
      #expect(scenario.topology.hops(from: 0).allSatisfy { $0 != nil }, "\(entry.name)")
      if entry.name.hasPrefix("t5"), let most = scenario.topology.neighbours.map(\.count).max() {
        #expect(most <= (entry.name.hasSuffix("cap20") ? 20 : entry.name.hasSuffix("cap12") ? 12 : 7))
      }
    }
  }
}
