/// The answer to `node.topology`: the mesh around this node, from its links and from the routes of packets that came.
///
/// Of what lies further away than a neighbour it says what relays have written, who may be wrong: good for looking, not
/// for deciding.
public struct TopologyAnswer: Codable, Sendable, Equatable {
  public struct Node: Codable, Sendable, Equatable {
    /// 32 hexadecimal digits, or 8 of one that is known from routes alone.
    public var id: String
    /// Empty when its card is not here.
    public var name: String
    public var isOwn: Bool
    /// Links to it on the way its packets last came; nil when it was not heard.
    public var hops: Int?

    public init(id: String, name: String, isOwn: Bool = false, hops: Int? = nil) {
      self.id = id
      self.name = name
      self.isOwn = isOwn
      self.hops = hops
    }
  }

  public struct Edge: Codable, Sendable, Equatable {
    public enum Source: String, Codable, Sendable {
      /// A link of this node: both ends have proved who they are.
      case link
      /// Side by side in the route of a packet.
      case route
    }

    /// IDs of nodes.
    public var from: String
    public var to: String
    public var source: Source
    /// When a packet last came that way; 0 for a link.
    public var seenSecondsAgo: Double

    public init(from: String, to: String, source: Source, seenSecondsAgo: Double) {
      self.from = from
      self.to = to
      self.source = source
      self.seenSecondsAgo = seenSecondsAgo
    }
  }

  /// This node first, then by ID.
  public var nodes: [Node]
  public var edges: [Edge]

  public init(nodes: [Node], edges: [Edge]) {
    self.nodes = nodes
    self.edges = edges
  }
}
