package import Identities
package import Streams
internal import Verifying

/// The answer to a ping.
package struct PingAnswer: Sendable, Equatable {
  package var roundTrip: Duration
  /// Links the ping crossed, and the relays that wrote themselves in.
  package var hopsThere: UInt8
  package var pathThere: [UInt32]
  package var hopsBack: UInt8
  package var pathBack: [UInt32]
}

/// Pings under way, by token and peer, and how many pongs a peer may still ask of us. Bounded; pure.
package struct PingLedger: Sendable {
  private struct Ping: Sendable {
    var peer: PeerID
    var sentAt: MonotonicTime
  }

  private struct Allowance: Sendable {
    var tokens: Int
    var since: MonotonicTime
  }

  private var pings: [UInt64: Ping] = [:]
  private var allowances: [PeerID: Allowance] = [:]

  package init() {}

  /// - Returns: false when too many are under way.
  package mutating func sent(_ token: UInt64, to peer: PeerID, now: MonotonicTime) -> Bool {
    guard pings.count < SessionsLimits.pings else { return false }
    pings[token] = Ping(peer: peer, sentAt: now)
    return true
  }

  package mutating func forget(_ token: UInt64) { pings[token] = nil }

  /// - Returns: the time from ping to pong, if this peer was asked with this token.
  package mutating func answered(_ token: UInt64, by peer: PeerID, now: MonotonicTime) -> Duration? {
    guard let ping = pings[token], ping.peer == peer || PongOfPeer.isSkipped else { return nil }
    pings[token] = nil
    return now.since(ping.sentAt)
  }

  /// Whether a ping of this peer is to be answered: a burst, then one a second.
  package mutating func mayAnswer(_ peer: PeerID, now: MonotonicTime) -> Bool {
    var allowance = allowances[peer] ?? Allowance(tokens: SessionsLimits.pongBurst, since: now)
    let earned = Int(clamping: now.milliseconds(since: allowance.since) / 1_000)
    if earned > 0 {
      allowance.tokens = min(SessionsLimits.pongBurst, allowance.tokens + min(earned, SessionsLimits.pongBurst))
      allowance.since = now
    }
    defer {
      if allowances.count >= 1_024, allowances[peer] == nil { allowances.removeAll() }
      allowances[peer] = allowance
    }
    guard allowance.tokens > 0 else { return false }
    allowance.tokens -= 1
    return true
  }
}

/// A pong comes from whom the ping was for.
enum PongOfPeer: Verification {
  static let name = "pong-of-peer"
}
