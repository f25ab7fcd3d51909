package import Streams

/// Who is linked with whom, as far as the routes of packets tell: what a person looks at, and nothing decides by.
///
/// A route is written by relays, who may lie or leave themselves out. An author is authentic, its neighbours in the route
/// are claims. Only of a route that names as many relays as the packet has crossed are two that stand side by side taken
/// for linked. Bounded by `SessionsLimits.mapEdges`; the one not seen for longest goes. Pure.
package struct MeshMap: Sendable {
  /// Two ends by how they stand in routes, the smaller first.
  package struct Edge: Sendable, Hashable {
    package let low: UInt32
    package let high: UInt32

    package init(_ one: UInt32, _ other: UInt32) { (low, high) = (min(one, other), max(one, other)) }
  }

  private var seen: [Edge: MonotonicTime] = [:]

  package init() {}

  /// A packet of an authentic author has come.
  ///
  /// - Parameters:
  ///   - origin, own: how author and this node stand in routes.
  ///   - route: its relays, first to last.
  ///   - hops: links it has crossed.
  package mutating func note(origin: UInt32, route: [UInt32], own: UInt32, hops: UInt8, now: MonotonicTime) {
    guard route.count + 1 == Int(hops) else { return }
    var last = origin
    for entry in route + [own] where entry != last {
      note(Edge(last, entry), now)
      last = entry
    }
  }

  private mutating func note(_ edge: Edge, _ now: MonotonicTime) {
    if seen[edge] == nil, seen.count >= SessionsLimits.mapEdges {
      // Of two of one age the same one each time, whatever the order of the table.
      let oldest = seen.min { ($0.value, $0.key.low, $0.key.high) < ($1.value, $1.key.low, $1.key.high) }
      if let oldest { seen[oldest.key] = nil }
    }
    seen[edge] = now
  }

  /// What was seen within `SessionsLimits.mapMemory`, in a fixed order.
  package func edges(now: MonotonicTime) -> [(edge: Edge, seenAt: MonotonicTime)] {
    seen.filter { now.since($0.value) <= SessionsLimits.mapMemory }
      .sorted { ($0.key.low, $0.key.high) < ($1.key.low, $1.key.high) }
      .map { ($0.key, $0.value) }
  }
}
