internal import TestKit

extension Topology {
  static func scattered(_ count: Int, using generator: inout SeededGenerator) -> [Point] {
    (0..<count).map { _ in
      Point(x: .random(in: 0..<1, using: &generator), y: .random(in: 0..<1, using: &generator))
    }
  }

  /// Pairs within `range` of each other in the unit square, each once, in a fixed order. By cells of the size of the
  /// range, so that the time is that of the pairs and not of the square of the nodes.
  static func pairs(_ points: [Point], range: Double) -> [(Int, Int)] {
    let side = max(1, min(256, Int(1 / range)))
    func cell(_ value: Double) -> Int { min(side - 1, max(0, Int(value * Double(side)))) }
    var cells = [[Int]](repeating: [], count: side * side)
    for (node, point) in points.enumerated() { cells[cell(point.y) * side + cell(point.x)].append(node) }
    var pairs: [(Int, Int)] = []
    for (node, point) in points.enumerated() {
      let (column, row) = (cell(point.x), cell(point.y))
      for y in max(0, row - 1)...min(side - 1, row + 1) {
        for x in max(0, column - 1)...min(side - 1, column + 1) {
          for other in cells[y * side + x] where other > node {
            if point.squareDistance(to: points[other]) <= range * range { pairs.append((node, other)) }
          }
        }
      }
    }
    return pairs
  }

  /// The same links, each opened by either of the two.
  func turned(using generator: inout SeededGenerator) -> Topology {
    var turned = self
    for index in edges.indices where Bool.random(using: &generator) {
      turned.edges[index] = Edge(central: edges[index].peripheral, peripheral: edges[index].central)
    }
    return turned
  }

  /// Links of each node: the other end.
  package var neighbours: [[Int]] {
    var lists = [[Int]](repeating: [], count: nodeCount)
    for edge in edges {
      lists[edge.central].append(edge.peripheral)
      lists[edge.peripheral].append(edge.central)
    }
    return lists
  }

  /// Hops from `source` to each node; nil where there is no way.
  package func hops(from source: Int) -> [Int?] {
    let lists = neighbours
    var hops = [Int?](repeating: nil, count: nodeCount)
    hops[source] = 0
    var border = [source]
    var distance = 0
    while !border.isEmpty {
      distance += 1
      var next: [Int] = []
      for node in border {
        for other in lists[node] where hops[other] == nil {
          hops[other] = distance
          next.append(other)
        }
      }
      border = next
    }
    return hops
  }

  /// The largest part that hangs together, its nodes numbered anew.
  func giant() -> Topology {
    var best: [Int] = []
    var known = [Bool](repeating: false, count: nodeCount)
    for node in 0..<nodeCount where !known[node] {
      let reached = hops(from: node).enumerated().compactMap { $0.element == nil ? nil : $0.offset }
      for other in reached { known[other] = true }
      if reached.count > best.count { best = reached }
      if best.count * 2 > nodeCount { break }
    }
    var number = [Int](repeating: -1, count: nodeCount)
    for (new, old) in best.enumerated() { number[old] = new }
    var giant = Topology(
      points: best.map { points[$0] },
      edges: edges.filter { number[$0.central] >= 0 }.map {
        Edge(central: number[$0.central], peripheral: number[$0.peripheral])
      }, parts: best.map { parts[$0] })
    if !inRange.isEmpty { giant.inRange = best.map { inRange[$0].map { number[$0] }.filter { $0 >= 0 } } }
    return giant
  }
}
