/// What a client may do. Each includes the ones before it.
public enum ControlPermission: String, Sendable, Codable, CaseIterable, Comparable {
  /// Look at the node, its peers, links and messages.
  case read
  /// Send messages and pings in the node's name.
  case send
  /// Stop and change the node.
  case admin

  private var rank: Int {
    switch self {
    case .read: 0
    case .send: 1
    case .admin: 2
    }
  }

  public static func < (left: ControlPermission, right: ControlPermission) -> Bool { left.rank < right.rank }

  /// This and all that it includes.
  public var included: [ControlPermission] { Self.allCases.filter { $0 <= self } }
}
