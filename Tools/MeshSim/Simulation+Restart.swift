internal import Links
package import Routing
package import Streams
internal import WireFormat

/// Nodes that stop and start again.
extension Simulation {
  /// The links go down and come back some seconds later; what the link layer knew is gone, and of what the rules knew
  /// there is left what they keep on disk.
  mutating func restart(_ node: Int, keepsMemory: Bool) {
    for place in nodes[node].slots {
      let (end, link) = (Int(place), Int(place) >> 1)
      if links[link].isUp {
        takeDown(link)
        reserve(link)
        let pause = 5_000_000_000 + UInt64.random(in: scenario.air.setUp, using: &worldRandom)
        queue.add(.linkUp, at: now + pause, link)
      }
      ends[end].transfer = LinkTransfer(bytesPerSecond: Self.bytesPerSecond)
      ends[end].slot = -1
    }
    nodes[node].slots = []
    nodes[node].reassembly = Reassembly()
    nodes[node].rulesDueAt = .max
    nodes[node].rules = nodes[node].rules.restarted(
      nodes[node].seed, keepsMemory: keepsMemory, now: time, wallMilliseconds: wallMilliseconds)
  }
}

extension RelayEngine {
  package mutating func keepMemory() { state.beginHistory(run: 1) }

  /// What was seen is written as it is when a node stops, and read as it is when it starts.
  package mutating func restarted(
    _ seed: NodeSeed, keepsMemory: Bool, now: MonotonicTime, wallMilliseconds: UInt64
  ) -> RelayEngine {
    var engine = RelayEngine(seed)
    engine.state.beginHistory(run: 2)
    guard keepsMemory else { return engine }
    let save = state.save(now: now, wallMilliseconds: wallMilliseconds, isClockSynchronised: true)
    var load = SeenLoad(
      second: RelayState.second(now), wallMilliseconds: wallMilliseconds, isClockSynchronised: true)
    for group in (save?.groups ?? []).reversed() { engine.state.restore(group.bytes, number: group.number, &load) }
    engine.state.endRestore(load)
    return engine
  }
}
