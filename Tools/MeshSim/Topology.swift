package import TestKit

/// Who is where and who is linked with whom at the start.
package struct Topology: Sendable {
  package struct Point: Sendable {
    package var x: Double
    package var y: Double

    func squareDistance(to other: Point) -> Double {
      (x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)
    }
  }

  package struct Edge: Sendable, Hashable {
    /// The node that opened the link: its central.
    package var central: Int
    package var peripheral: Int
  }

  /// Which of the peers in range a node links with when there are more than it can have.
  package enum Choice: String, Sendable, CaseIterable { case strongest, random, farthest }

  package var points: [Point]
  package var edges: [Edge]
  /// The part each node belongs to, where the topology has parts.
  package var parts: [Int]
  /// Who is within reach of whom, where nodes choose among more than they can have.
  package var inRange: [[Int]] = []

  package var nodeCount: Int { points.count }

  init(points: [Point], edges: [Edge], parts: [Int] = []) {
    self.points = points
    self.edges = edges
    self.parts = parts.isEmpty ? Array(repeating: 0, count: points.count) : parts
  }

  package static func line(_ count: Int) -> Topology {
    Topology(
      points: (0..<count).map { Point(x: Double($0), y: 0) },
      edges: (1..<count).map { Edge(central: $0 - 1, peripheral: $0) })
  }

  package static func ring(_ count: Int) -> Topology {
    var topology = line(count)
    topology.edges.append(Edge(central: count - 1, peripheral: 0))
    return topology
  }

  /// Rows and columns, each node linked with its neighbours to the left, right, above and below.
  package static func grid(_ side: Int) -> Topology {
    var edges: [Edge] = []
    for row in 0..<side {
      for column in 0..<side {
        let node = row * side + column
        if column + 1 < side { edges.append(Edge(central: node, peripheral: node + 1)) }
        if row + 1 < side { edges.append(Edge(central: node, peripheral: node + side)) }
      }
    }
    let points = (0..<side * side).map { Point(x: Double($0 % side), y: Double($0 / side)) }
    return Topology(points: points, edges: edges)
  }

  /// Hubs around a first one, each with its leaves.
  package static func starOfStars(hubs: Int, leaves: Int) -> Topology {
    var edges = (1..<hubs).map { Edge(central: 0, peripheral: $0) }
    for hub in 0..<hubs {
      for leaf in 0..<leaves { edges.append(Edge(central: hub, peripheral: hubs + hub * leaves + leaf)) }
    }
    let count = hubs + hubs * leaves
    return Topology(points: (0..<count).map { Point(x: Double($0), y: 0) }, edges: edges)
  }

  /// Nodes anywhere in a unit square, linked with all in range; of it the largest part that hangs together.
  package static func geometric(
    _ count: Int, degree: Double, using generator: inout SeededGenerator
  ) -> Topology {
    let points = scattered(count, using: &generator)
    let range = (degree / (Double.pi * Double(count))).squareRoot()
    let edges = pairs(points, range: range).map { Edge(central: $0.0, peripheral: $0.1) }
    return Topology(points: points, edges: edges).turned(using: &generator).giant()
  }

  /// Nodes anywhere in a unit square with so many others in range on average, of which each links with at most `cap`.
  package static func crowd(
    _ count: Int, inRange: Double, cap: Int, choice: Choice = .random, using generator: inout SeededGenerator
  ) -> Topology {
    let points = scattered(count, using: &generator)
    let range = (inRange / (Double.pi * Double(count))).squareRoot()
    var candidates = pairs(points, range: range)
    candidates.shuffle(using: &generator)
    if choice != .random {
      let sign: Double = choice == .strongest ? 1 : -1
      candidates = candidates.map { ($0, sign * points[$0.0].squareDistance(to: points[$0.1])) }
        .sorted { ($0.1, $0.0.0, $0.0.1) < ($1.1, $1.0.0, $1.0.1) }.map(\.0)
    }
    var degree = [Int](repeating: 0, count: count)
    var edges: [Edge] = []
    for (one, other) in candidates where degree[one] < cap && degree[other] < cap {
      degree[one] += 1
      degree[other] += 1
      edges.append(Edge(central: one, peripheral: other))
    }
    var topology = Topology(points: points, edges: edges)
    topology.inRange = [[Int]](repeating: [], count: count)
    for (one, other) in candidates {
      topology.inRange[one].append(other)
      topology.inRange[other].append(one)
    }
    return topology.turned(using: &generator).giant()
  }

  /// Two crowds and so many links between them.
  package static func clusters(
    _ count: Int, inRange: Double, cap: Int, bridges: Int, using generator: inout SeededGenerator
  ) -> Topology {
    let left = crowd(count, inRange: inRange, cap: cap, using: &generator)
    let right = crowd(count, inRange: inRange, cap: cap, using: &generator)
    var edges = left.edges
    edges += right.edges.map {
      Edge(central: $0.central + left.nodeCount, peripheral: $0.peripheral + left.nodeCount)
    }
    for bridge in 0..<bridges {
      edges.append(
        Edge(central: bridge % left.nodeCount, peripheral: left.nodeCount + bridge % right.nodeCount))
    }
    return Topology(
      points: left.points + right.points.map { Point(x: $0.x + 2, y: $0.y) }, edges: edges,
      parts: left.points.map { _ in 0 } + right.points.map { _ in 1 })
  }
}
