import Testing

@testable import Telemetry

@Suite struct CounterTests {
  enum Drop: String, CounterReason { case duplicate, tooOld, full }
  enum Single: String, CounterReason { case only }

  @Test func everyReasonHasItsOwnCounter() {
    let set = CounterSet<Drop>("relay.drop")
    set.count(.duplicate)
    set.count(.full, by: 5)
    #expect(set.snapshot() == [.duplicate: 1, .tooOld: 0, .full: 5])
    let single = CounterSet<Single>("x")
    single.count(.only)
    #expect(single[.only] == 1)
  }

  @Test func countsOfManyThreadsAreNotLost() async {
    let set = CounterSet<Drop>("relay.drop")
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<10_000 { set.count(.tooOld) } } }
    }
    #expect(set[.tooOld] == 80_000)
  }

  @Test func registrySumsSetsOfOneGroup() {
    let registry = CounterRegistry()
    let first: CounterSet<Drop> = registry.makeSet("relay.drop")
    let second: CounterSet<Drop> = registry.makeSet("relay.drop")
    first.count(.full)
    second.count(.full, by: 2)
    #expect(registry.snapshot()["relay.drop"] == ["duplicate": 0, "tooOld": 0, "full": 3])
    #expect(registry.nonZero().map(\.name) == [CounterName(group: "relay.drop", reason: "full")])
  }

  @Test func countersThatAreKeptElsewhereAreShown() {
    let registry = CounterRegistry()
    #expect(registry.register("bluez") { [(reason: "garbage", count: 4), (reason: "other", count: 0)] })
    #expect(registry.snapshot()["bluez"] == ["garbage": 4, "other": 0])
  }

  @Test func registryIsBounded() {
    let registry = CounterRegistry()
    for _ in 0..<TelemetryLimits.counterSets { #expect(registry.register(CounterSet<Single>("x"))) }
    #expect(!registry.register(CounterSet<Single>("x")))
    #expect(!registry.register("y") { [] })
  }
}
