public enum ControlEventKind: String, Codable, Sendable, CaseIterable {
  case message, delivery, peer, contact, link, reception, lagged
}

/// Something that happened at the node, as a subscriber is told.
public struct ControlEvent: Sendable, Equatable {
  public enum Body: Sendable, Equatable {
    case message(MessageRecord)
    case delivery(DeliveryEvent)
    case peer(PeerEvent)
    /// A contact whose name another key bears now, its `rivalID`; or, without one, a contact that calls itself otherwise.
    case contact(ContactRecord)
    case link(LinkEvent)
    case reception(ReceptionEvent)
    case lagged(LaggedEvent)
  }

  /// Milliseconds since 1970 on the node's clock.
  public var time: Int64
  /// Rises with every event that can be acknowledged; nil for the others.
  public var cursor: UInt64?
  public var body: Body

  public init(time: Int64, cursor: UInt64? = nil, body: Body) {
    self.time = time
    self.cursor = cursor
    self.body = body
  }

  public var kind: ControlEventKind {
    switch body {
    case .message: .message
    case .delivery: .delivery
    case .peer: .peer
    case .contact: .contact
    case .link: .link
    case .reception: .reception
    case .lagged: .lagged
    }
  }
}

/// A message of our own has come further.
public struct DeliveryEvent: Codable, Sendable, Equatable {
  public var messageID: String
  public var state: MessageState
  public var reason: String?

  public init(messageID: String, state: MessageState, reason: String? = nil) {
    self.messageID = messageID
    self.state = state
    self.reason = reason
  }
}

public struct PeerEvent: Codable, Sendable, Equatable {
  public enum Change: String, Codable, Sendable, CaseIterable { case appeared, returned, silent, renamed }

  public var change: Change
  public var peer: PeerRecord

  public init(change: Change, peer: PeerRecord) {
    self.change = change
    self.peer = peer
  }
}

public struct LinkEvent: Codable, Sendable, Equatable {
  public enum Change: String, Codable, Sendable, CaseIterable {
    case up, down, step
    /// The link to this peer came up three times within a minute; `reason` names what ended those before.
    case unsteady
  }

  public var change: Change
  /// Why it is down, or does not hold.
  public var reason: String?
  public var link: LinkRecord

  public init(change: Change, reason: String? = nil, link: LinkRecord) {
    self.change = change
    self.reason = reason
    self.link = link
  }
}

/// A link carried a packet. Never its contents.
public struct ReceptionEvent: Codable, Sendable, Equatable {
  public enum Direction: String, Codable, Sendable, CaseIterable { case `in`, out }

  public var link: String
  /// Who is at the other end, once known.
  public var neighbour: PeerReference?
  public var direction: Direction
  /// `public`, `personal`, `card`, …
  public var packetKind: String
  /// Of the packet, hexadecimal, 32 digits.
  public var id: String
  public var hops: Int
  /// Bytes of the packet.
  public var size: Int
  /// `accepted`, `duplicate`, …, or `sent`.
  public var verdict: String

  public init(
    link: String, neighbour: PeerReference? = nil, direction: Direction, packetKind: String, id: String, hops: Int,
    size: Int, verdict: String
  ) {
    self.link = link
    self.neighbour = neighbour
    self.direction = direction
    self.packetKind = packetKind
    self.id = id
    self.hops = hops
    self.size = size
    self.verdict = verdict
  }
}

/// This many events are missing here, because the subscriber read too slowly.
public struct LaggedEvent: Codable, Sendable, Equatable {
  public var count: UInt64

  public init(count: UInt64) { self.count = count }
}

/// One flat object: `kind`, `time`, `cursor`, then what the kind has.
extension ControlEvent: Codable {
  private enum CodingKeys: String, CodingKey { case kind, time, cursor }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    time = try container.decode(Int64.self, forKey: .time)
    cursor = try container.decodeIfPresent(UInt64.self, forKey: .cursor)
    switch try container.decode(ControlEventKind.self, forKey: .kind) {
    case .message: body = .message(try MessageRecord(from: decoder))
    case .delivery: body = .delivery(try DeliveryEvent(from: decoder))
    case .peer: body = .peer(try PeerEvent(from: decoder))
    case .contact: body = .contact(try ContactRecord(from: decoder))
    case .link: body = .link(try LinkEvent(from: decoder))
    case .reception: body = .reception(try ReceptionEvent(from: decoder))
    case .lagged: body = .lagged(try LaggedEvent(from: decoder))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch body {
    case .message(let record): try record.encode(to: encoder)
    case .delivery(let event): try event.encode(to: encoder)
    case .peer(let event): try event.encode(to: encoder)
    case .contact(let record): try record.encode(to: encoder)
    case .link(let event): try event.encode(to: encoder)
    case .reception(let event): try event.encode(to: encoder)
    case .lagged(let event): try event.encode(to: encoder)
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind, forKey: .kind)
    try container.encode(time, forKey: .time)
    try container.encodeIfPresent(cursor, forKey: .cursor)
  }
}
