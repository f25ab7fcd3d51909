internal import Identities

/// Messages handled lately, by author and ID, so that most repetitions never reach the store. A ring beside a set.
struct RecentMessages: Sendable {
  private struct Key: Hashable, Sendable {
    var author: PeerID
    var id: MessageID
  }

  private var members: Set<Key> = []
  private var ring: [Key] = []
  private var next = 0

  /// - Returns: whether it was not there.
  mutating func insert(_ id: MessageID, of author: PeerID) -> Bool {
    let key = Key(author: author, id: id)
    guard members.insert(key).inserted else { return false }
    if ring.count < SessionsLimits.recentMessages {
      ring.append(key)
      return true
    }
    members.remove(ring[next])
    ring[next] = key
    next = (next + 1) % ring.count
    return true
  }
}
