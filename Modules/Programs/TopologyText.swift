package import ControlAPI

/// The mesh as this node knows it, for people and for Graphviz.
package enum TopologyText {
  /// A tree of the shortest known ways from this node, then the links beside it, then who is somewhere:
  ///
  ///     ann 1a2b3c4d (this node)
  ///     ├─ ben 5e6f7a8b
  ///     │  └─ cid 9c0d1e2f  seen 12 s ago
  ///     └─ dan 0f1e2d3c
  ///     also linked: ben 5e6f7a8b – dan 0f1e2d3c
  ///     somewhere: eve 44556677, 5 hops
  package static func lines(_ map: TopologyAnswer) -> [String] {
    guard let own = map.nodes.firstIndex(where: \.isOwn) else { return [] }
    let places = Dictionary(map.nodes.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
    var ways = [[(edge: Int, other: Int)]](repeating: [], count: map.nodes.count)
    for (number, edge) in map.edges.enumerated() {
      guard let from = places[edge.from], let to = places[edge.to], from != to else { continue }
      ways[from].append((number, to))
      ways[to].append((number, from))
    }
    var children = [[(edge: Int, node: Int)]](repeating: [], count: map.nodes.count)
    var isPlaced = [Bool](repeating: false, count: map.nodes.count)
    var isShown = [Bool](repeating: false, count: map.edges.count)
    var queue = [own]
    isPlaced[own] = true
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      for way in ways[node] where !isPlaced[way.other] {
        isPlaced[way.other] = true
        isShown[way.edge] = true
        children[node].append((way.edge, way.other))
        queue.append(way.other)
      }
    }
    var lines = ["\(label(map.nodes[own])) (this node)"]
    // Depth first, with what is drawn before each line.
    var open: [(edge: Int, node: Int, before: String, isLast: Bool)] = []
    func push(_ node: Int, _ before: String) {
      for (index, child) in children[node].enumerated().reversed() {
        open.append((child.edge, child.node, before, index == children[node].count - 1))
      }
    }
    push(own, "")
    while let line = open.popLast() {
      let seen = map.edges[line.edge].source == .route ? "  seen \(age(map.edges[line.edge])) ago" : ""
      lines.append("\(line.before)\(line.isLast ? "└─" : "├─") \(label(map.nodes[line.node]))\(seen)")
      push(line.node, line.before + (line.isLast ? "   " : "│  "))
    }
    for (number, edge) in map.edges.enumerated() where !isShown[number] {
      guard let from = places[edge.from], let to = places[edge.to], isPlaced[from] else { continue }
      lines.append("also linked: \(label(map.nodes[from])) – \(label(map.nodes[to]))")
    }
    for (number, node) in map.nodes.enumerated() where !isPlaced[number] {
      let hops = node.hops.map { ", \($0) \($0 == 1 ? "hop" : "hops")" } ?? ""
      lines.append("somewhere: \(label(node))\(hops)")
    }
    return lines
  }

  /// A graph in the language of Graphviz; links of this node are drawn through, what routes tell is dashed.
  package static func dot(_ map: TopologyAnswer) -> [String] {
    var lines = ["graph mesh {", "  node [shape=box, style=rounded];"]
    for node in map.nodes {
      let look = node.isOwn ? ", penwidth=2" : ""
      lines.append("  \(quoted(node.id)) [label=\(quoted(label(node)))\(look)];")
    }
    for edge in map.edges {
      let look = edge.source == .route ? " [style=dashed]" : ""
      lines.append("  \(quoted(edge.from)) -- \(quoted(edge.to))\(look);")
    }
    return lines + ["}"]
  }

  private static func label(_ node: TopologyAnswer.Node) -> String {
    PeerText.name(PeerReference(id: node.id, name: node.name))
  }

  private static func age(_ edge: TopologyAnswer.Edge) -> String { PeerText.age(edge.seenSecondsAgo) }

  /// A string of the DOT language: a backslash would begin an escape of a label, which `\N` and others are.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for character in text {
      switch character {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      default: result.append(character)
      }
    }
    return result + "\""
  }
}
