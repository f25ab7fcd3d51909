/// The last keys received from a peer, so that a repetition is acknowledged again and not handed on again.
///
/// A ring of fixed size beside a set; the oldest key goes.
struct RecentKeys: Sendable {
  private var ring: [UInt64] = []
  private var next = 0
  private var members: Set<UInt64> = []

  init() {}

  func contains(_ key: UInt64) -> Bool { members.contains(key) }

  mutating func insert(_ key: UInt64) {
    guard members.insert(key).inserted else { return }
    if ring.count < LinksLimits.recentKeys {
      ring.append(key)
      return
    }
    members.remove(ring[next])
    ring[next] = key
    next = next + 1 == ring.count ? 0 : next + 1
  }
}
