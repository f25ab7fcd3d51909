/// The keys of the last packets that were met and are not carried: refused ones, those at the end of their hops, and those
/// that had to go. The oldest is forgotten first; room is taken as it fills.
package struct MetKeys: Sendable {
  private var ring: [UInt64] = []
  private var members: Set<UInt64> = []
  private var next = 0
  private let limit: Int

  package init(limit: Int = RoutingLimits.metKeys) { self.limit = limit }

  package func contains(_ key: UInt64) -> Bool { members.contains(key) }

  package mutating func insert(_ key: UInt64) {
    guard members.insert(key).inserted else { return }
    guard ring.count == limit else {
      ring.append(key)
      return
    }
    members.remove(ring[next])
    ring[next] = key
    next = next + 1 == ring.count ? 0 : next + 1
  }
}
