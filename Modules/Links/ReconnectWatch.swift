package import Identities
package import Streams

/// Notices a peer to whom the link breaks and comes back over and over: three times within a minute is worth a word, with
/// what ended the links. Pure.
///
/// Said once, and again only when the peer has been steady for a minute or another `reconnects` have come after that time.
/// Peers beyond `LinksLimits.watchedPeers` push out the one whose last link is longest gone.
package struct ReconnectWatch: Sendable {
  /// What is to be said.
  package struct Alarm: Sendable, Equatable {
    package var peer: PeerID
    package var reconnects: Int
    /// Why the links ended, the most frequent cause first, each once with how often it was.
    package var causes: [Cause]

    /// For people: `lost (2 times), closedByPeer`.
    package var sentence: String {
      causes.map { $0.count > 1 ? "\($0.reason) (\($0.count) times)" : $0.reason }.joined(separator: ", ")
    }
  }

  package struct Cause: Sendable, Equatable {
    package var reason: String
    package var count: Int
  }

  private struct History: Sendable {
    /// When links came back, and what had ended the one before; only those of the last minute.
    var returns: [(at: MonotonicTime, reason: String)] = []
    /// Why the last link ended, until the next one.
    var lastEnd: (at: MonotonicTime, reason: String)?
    var quietUntil = MonotonicTime.start
  }

  private var histories: [PeerID: History] = [:]

  package init() {}

  package var count: Int { histories.count }

  /// The link to a peer has ended.
  package mutating func down(_ peer: PeerID, reason: String, now: MonotonicTime) {
    if histories[peer] == nil, histories.count >= LinksLimits.watchedPeers { forgetOne() }
    histories[peer, default: History()].lastEnd = (now, reason)
  }

  /// There is a link to a peer. - Returns: what to say when it was one too many.
  package mutating func up(_ peer: PeerID, now: MonotonicTime) -> Alarm? {
    guard var history = histories[peer], let end = history.lastEnd else { return nil }
    history.lastEnd = nil
    history.returns.append((now, end.reason))
    history.returns.removeAll { $0.at.advanced(by: LinksLimits.reconnectTime) < now }
    if history.returns.count > LinksLimits.reconnectsKept { history.returns.removeFirst() }
    defer { histories[peer] = history }
    guard history.returns.count >= LinksLimits.reconnects, history.quietUntil <= now else { return nil }
    history.quietUntil = now.advanced(by: LinksLimits.reconnectTime)
    return Alarm(peer: peer, reconnects: history.returns.count, causes: Self.causes(history.returns.map(\.reason)))
  }

  private static func causes(_ reasons: [String]) -> [Cause] {
    var causes: [Cause] = []
    for reason in reasons {
      if let index = causes.firstIndex(where: { $0.reason == reason }) {
        causes[index].count += 1
      } else {
        causes.append(Cause(reason: reason, count: 1))
      }
    }
    // Stable: of two that are as frequent the earlier one first.
    return causes.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
  }

  private mutating func forgetOne() {
    let oldest = histories.min { left, right in
      let (one, other) = (left.value.lastEnd?.at ?? .start, right.value.lastEnd?.at ?? .start)
      return one == other ? left.key < right.key : one < other
    }
    if let oldest { histories[oldest.key] = nil }
  }
}
