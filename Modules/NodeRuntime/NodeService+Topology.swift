internal import Bytes
internal import ControlAPI
internal import Identities
internal import Sessions
internal import Streams

extension NodeService {
  /// The mesh as this node knows it.
  func topology() async -> TopologyAnswer {
    let session = node.session
    let now = node.environment.time.now()
    let own = session.ownID
    let peers = await session.peers()
    var ids: [UInt32: String] = [own.routeEntry: own.description]
    var nodes = [
      TopologyAnswer.Node(id: own.description, name: await session.ownCard.card.name.text, isOwn: true, hops: 0)
    ]
    var others = peers.map { peer in
      TopologyAnswer.Node(
        id: peer.card.id.description, name: peer.card.card.name.text,
        hops: peer.entry.hops == 0 ? nil : Int(peer.entry.hops))
    }
    // Two cards of one entry are nobody's: the entry is shown by its digits.
    let entries = Dictionary(grouping: peers.map(\.card.id), by: \.routeEntry)
    for (entry, owners) in entries where owners.count == 1 && entry != own.routeEntry {
      ids[entry] = owners[0].description
    }
    let linked = peers.filter(\.entry.isNeighbour).map(\.card.id.description)
    let neighbours = Set(linked)
    var edges = linked.map {
      TopologyAnswer.Edge(from: own.description, to: $0, source: .link, seenSecondsAgo: 0)
    }
    for (edge, seenAt) in await session.mapEdges(now: now) {
      var names: [String] = []
      for entry in [edge.low, edge.high] {
        if let id = ids[entry] {
          names.append(id)
        } else {
          let id = String(Hex.encode(UInt64(entry)).suffix(8))
          ids[entry] = id
          names.append(id)
          others.append(TopologyAnswer.Node(id: id, name: ""))
        }
      }
      // A link of this node is there already.
      guard !names.contains(own.description) || neighbours.isDisjoint(with: names) else { continue }
      edges.append(
        TopologyAnswer.Edge(
          from: names[0], to: names[1], source: .route,
          seenSecondsAgo: Double(now.milliseconds(since: seenAt)) / 1_000))
    }
    nodes += others.sorted { $0.id < $1.id }
    return TopologyAnswer(nodes: nodes, edges: edges)
  }
}
