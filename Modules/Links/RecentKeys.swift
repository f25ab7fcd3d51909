/// The last keys received from a peer, so that a repetition is acknowledged again and not handed on again, and how many
/// links the best copy of each had crossed.
///
/// A ring of fixed size beside a table; the oldest key goes.
struct RecentKeys: Sendable {
  private var ring: [UInt64] = []
  private var next = 0
  private var hops: [UInt64: UInt8] = [:]

  init() {}

  func contains(_ key: UInt64) -> Bool { hops[key] != nil }

  /// Links that the best copy had crossed; nil for a key that is not known.
  func hops(of key: UInt64) -> UInt8? { hops[key] }

  mutating func insert(_ key: UInt64, hops new: UInt8 = 0) {
    if let known = hops[key] {
      hops[key] = min(known, new)
      return
    }
    hops[key] = new
    if ring.count < LinksLimits.recentKeys {
      ring.append(key)
      return
    }
    hops[ring[next]] = nil
    ring[next] = key
    next = next + 1 == ring.count ? 0 : next + 1
  }
}
