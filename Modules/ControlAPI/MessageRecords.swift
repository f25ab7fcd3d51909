/// What has become of a message of our own.
public enum MessageState: String, Codable, Sendable, CaseIterable {
  /// It is on the disk, and waits for a card of the recipient that may still be sealed to.
  case waiting
  /// It is on the disk.
  case accepted
  /// A link has taken it.
  case sent
  /// A neighbour has passed it on.
  case relayed
  /// The recipient has said that it is there.
  case delivered
  /// A person has seen it.
  case read
  /// It will not be tried any more; the reason is said.
  case expired
}

/// A message, from others or our own.
public struct MessageRecord: Codable, Sendable, Equatable {
  /// Hexadecimal, 32 digits.
  public var messageID: String
  /// `#public`, or nil for a personal message.
  public var room: String?
  public var from: PeerReference
  public var fromIsBot: Bool
  /// The recipient of a personal message.
  public var to: PeerReference?
  public var text: String
  /// When the sender says it was written, in milliseconds since 1970.
  public var sentTime: Int64
  /// When this node had it, in milliseconds since 1970 on its own clock.
  public var receivedTime: Int64
  /// Links it has travelled; 0 for our own.
  public var hops: Int
  /// The relays it says it has passed, oldest first: names, or the beginning of an ID.
  public var path: [String]
  /// The answer of an echo bot.
  public var isEcho: Bool
  /// Written at this node.
  public var isOwn: Bool
  /// It was said before this node was in reach and came long after: old news.
  public var isLate: Bool
  /// Of our own messages.
  public var state: MessageState?

  public init(
    messageID: String, room: String?, from: PeerReference, fromIsBot: Bool, to: PeerReference? = nil, text: String,
    sentTime: Int64, receivedTime: Int64, hops: Int, path: [String], isEcho: Bool, isOwn: Bool,
    isLate: Bool = false, state: MessageState? = nil
  ) {
    self.messageID = messageID
    self.room = room
    self.from = from
    self.fromIsBot = fromIsBot
    self.to = to
    self.text = text
    self.sentTime = sentTime
    self.receivedTime = receivedTime
    self.hops = hops
    self.path = path
    self.isEcho = isEcho
    self.isOwn = isOwn
    self.isLate = isLate
    self.state = state
  }
}

/// The answer to `message.send`: the message is on the disk and survives whatever happens to the node.
public struct SendAnswer: Codable, Sendable, Equatable {
  public var messageID: String
  public var state: MessageState

  public init(messageID: String, state: MessageState = .accepted) {
    self.messageID = messageID
    self.state = state
  }
}

/// The answer to `message.status`.
public struct MessageStatusAnswer: Codable, Sendable, Equatable {
  public var messageID: String
  public var state: MessageState
  /// Why it expired.
  public var reason: String?
  /// The links that have taken it, by their ID.
  public var links: [String]

  public init(messageID: String, state: MessageState, reason: String? = nil, links: [String] = []) {
    self.messageID = messageID
    self.state = state
    self.reason = reason
    self.links = links
  }
}

/// The answer to `node.ping`.
public struct PingAnswer: Codable, Sendable, Equatable {
  public var peer: PeerReference
  public var roundTripMilliseconds: Double
  /// Links on the way of the answer.
  public var hops: Int
  /// The relays on the way, as far as they say so.
  public var path: [String]

  public init(peer: PeerReference, roundTripMilliseconds: Double, hops: Int, path: [String]) {
    self.peer = peer
    self.roundTripMilliseconds = roundTripMilliseconds
    self.hops = hops
    self.path = path
  }
}

/// The answer to `events.subscribe`: how things stand; the events that follow change it. An event may tell of
/// something that the snapshot shows already.
public struct SubscribeAnswer: Codable, Sendable, Equatable {
  public var peers: [PeerRecord]
  public var links: [LinkRecord]
  /// Of the newest event before the subscription.
  public var cursor: UInt64

  public init(peers: [PeerRecord], links: [LinkRecord], cursor: UInt64) {
    self.peers = peers
    self.links = links
    self.cursor = cursor
  }
}
