internal import WireFormat

/// The earliest that anything could arrive: every link is used at each of its events at once, no frame waits for
/// another or for a radio, none is lost, and whoever meets later is told then. Dijkstra over the times at which links
/// were up. No rules can be faster.
package struct Oracle: Sendable {
  private struct Way: Sendable {
    var clock: LinkClock
    var from: UInt64
    var to: UInt64
    var other: Int32
  }

  /// The ways out of node n are `ways[starts[n]..<starts[n + 1]]`.
  private var starts: [Int]
  private var ways: [Way]
  private let exclusive: [Bool]

  /// - Parameters:
  ///   - windows: node, node, clock, and from when to when.
  ///   - silent: nodes that pass nothing on.
  init(nodes: Int, windows: [(one: Int, other: Int, clock: LinkClock, from: UInt64, to: UInt64)], silent: [Int]) {
    starts = [Int](repeating: 0, count: nodes + 1)
    for window in windows {
      starts[window.one + 1] += 1
      starts[window.other + 1] += 1
    }
    for node in 0..<nodes { starts[node + 1] += starts[node] }
    var places = starts
    let nothing = Way(
      clock: windows.first?.clock ?? LinkClock.none, from: 0, to: 0, other: 0)
    ways = Array(repeating: nothing, count: windows.count * 2)
    for window in windows {
      for (node, other) in [(window.one, window.other), (window.other, window.one)] {
        ways[places[node]] = Way(
          clock: window.clock, from: window.from, to: window.to, other: Int32(truncatingIfNeeded: other))
        places[node] += 1
      }
    }
    var isSilent = [Bool](repeating: false, count: nodes)
    for node in silent { isSilent[node] = true }
    exclusive = isSilent
  }

  /// When each node could have it at the earliest; `UInt64.max` where never.
  ///
  /// - Parameter exchange: how long one link takes for it.
  func arrivals(from source: Int, at start: UInt64, exchange: UInt64) -> [UInt64] {
    var best = [UInt64](repeating: .max, count: starts.count - 1)
    best[source] = start
    var queue = EventQueue()
    queue.add(.arrival, at: start, source)
    while let event = queue.popFirst() {
      let node = Int(event.a)
      guard event.time == best[node], !exclusive[node] || node == source else { continue }
      for index in starts[node]..<starts[node + 1] {
        let way = ways[index]
        let anchor = way.clock.next(from: max(event.time, way.from))
        let (other, at) = (Int(way.other), anchor &+ exchange)
        guard at <= way.to, at < best[other] else { continue }
        best[other] = at
        queue.add(.arrival, at: at, other)
      }
    }
    return best
  }
}

extension LinkClock {
  static var none: LinkClock {
    var generator = Scenario.generator(0, 0)
    return LinkClock(AirModel(), generator: &generator)
  }
}

extension Simulation {
  /// The oracle of this run, once it is over.
  var oracle: Oracle {
    var silent: [Int] = []
    switch scenario.hostility {
    case .blackHole, .swallow: silent = scenario.hostileNodes
    default: break
    }
    return Oracle(
      nodes: nodes.count,
      windows: windows.map { window in
        let link = links[window.link]
        return (link.central, link.peripheral, link.clock, window.from, window.to)
      }, silent: silent)
  }

  /// What one link takes at least for a message: all its frames in one event.
  func exchange(of message: Message) -> UInt64 {
    let limit = scenario.air.attPayload - AirModel.sealByteCount
    let size = message.packet.encoded.count + 1
    guard size > limit else { return AirModel.exchange(size + AirModel.sealByteCount, nil) }
    let data = limit - 13
    let pieces = (size - 1 + data - 1) / data
    let last = size - 1 - (pieces - 1) * data + 13
    return UInt64(pieces - 1) * AirModel.exchange(limit + AirModel.sealByteCount, nil)
      + AirModel.exchange(last + AirModel.sealByteCount, nil)
  }
}
