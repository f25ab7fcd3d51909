/// The keys of the last packets that were met and are not carried: refused ones, and those at the end of their hops. The
/// oldest goes.
package struct MetKeys: Sendable {
  private var ring: [UInt64] = []
  private var next = 0

  package init() {}

  package func contains(_ key: UInt64) -> Bool { ring.contains(key) }

  package mutating func insert(_ key: UInt64) {
    if ring.count < RoutingLimits.metKeys {
      if !ring.contains(key) { ring.append(key) }
      return
    }
    ring[next] = key
    next = next + 1 == ring.count ? 0 : next + 1
  }
}
