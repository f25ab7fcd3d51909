/// The answer to `node.hello`.
public struct HelloAnswer: Codable, Sendable, Equatable {
  /// The version of the node's program.
  public var version: String
  public var apiVersion: Int
  /// Hexadecimal, 32 digits.
  public var peerID: String
  public var name: String
  /// What this client may do.
  public var permissions: [ControlPermission]

  public init(
    version: String, apiVersion: Int = ControlAPILimits.apiVersion, peerID: String, name: String,
    permissions: [ControlPermission]
  ) {
    self.version = version
    self.apiVersion = apiVersion
    self.peerID = peerID
    self.name = name
    self.permissions = permissions
  }
}

/// The answer to `node.status`.
public struct StatusAnswer: Codable, Sendable, Equatable {
  public struct Transport: Codable, Sendable, Equatable {
    public var name: String
    /// `local`, `bluez`, …
    public var scheme: String
    /// `poweredOn`, `poweredOff`, …
    public var state: String

    public init(name: String, scheme: String, state: String) {
      self.name = name
      self.scheme = scheme
      self.state = state
    }
  }

  /// The identity of this node also runs elsewhere, or did since its state was copied.
  public struct IdentityElsewhere: Codable, Sendable, Equatable {
    /// `handshake`: a neighbour has proved our keys. `card`, `message`: one with our signature that we have not made.
    public var evidence: String
    /// How often any of them was met in this run.
    public var count: UInt64
    public var lastSecondsAgo: Double

    public init(evidence: String, count: UInt64, lastSecondsAgo: Double) {
      self.evidence = evidence
      self.count = count
      self.lastSecondsAgo = lastSecondsAgo
    }
  }

  public var version: String
  public var uptimeSeconds: Double
  public var peerID: String
  public var name: String
  public var icon: String
  public var transports: [Transport]
  public var linkCount: Int
  public var peerCount: Int
  /// Group, reason, count.
  public var counters: [String: [String: UInt64]]
  /// What the state directory is doing: `ready`, `migrating`, …
  public var statePhase: String
  public var residentBytes: UInt64?
  /// Where keys, settings and history lie, and what is still missing on their way into the sealed form.
  public var store: StoreRecord?
  /// What was met last of an identity that also runs elsewhere; nil when nothing was.
  public var identityElsewhere: IdentityElsewhere?

  public init(
    version: String, uptimeSeconds: Double, peerID: String, name: String, icon: String, transports: [Transport],
    linkCount: Int, peerCount: Int, counters: [String: [String: UInt64]], statePhase: String, residentBytes: UInt64?,
    store: StoreRecord? = nil,
    identityElsewhere: IdentityElsewhere? = nil
  ) {
    self.version = version
    self.uptimeSeconds = uptimeSeconds
    self.peerID = peerID
    self.name = name
    self.icon = icon
    self.transports = transports
    self.linkCount = linkCount
    self.peerCount = peerCount
    self.counters = counters
    self.statePhase = statePhase
    self.residentBytes = residentBytes
    self.store = store
    self.identityElsewhere = identityElsewhere
  }
}

/// Who somebody is, in short.
public struct PeerReference: Codable, Sendable, Equatable {
  /// Hexadecimal, 32 digits.
  public var id: String
  /// Empty when no card has come yet.
  public var name: String

  public init(id: String, name: String) {
    self.id = id
    self.name = name
  }
}

/// One line of `peers.list`.
public struct PeerRecord: Codable, Sendable, Equatable {
  public enum State: String, Codable, Sendable, CaseIterable { case present, silent }

  public var id: String
  public var name: String
  public var icon: String
  /// The signing key, hexadecimal.
  public var fingerprintHex: String
  /// True when a link to the peer is ready.
  public var isNeighbour: Bool
  /// Of the shortest way by which something came lately; nil when unknown.
  public var hops: Int?
  public var lastHeardSecondsAgo: Double
  public var state: State
  public var isBot: Bool
  public var cardSequence: UInt64

  public init(
    id: String, name: String, icon: String, fingerprintHex: String, isNeighbour: Bool, hops: Int?,
    lastHeardSecondsAgo: Double, state: State, isBot: Bool, cardSequence: UInt64
  ) {
    self.id = id
    self.name = name
    self.icon = icon
    self.fingerprintHex = fingerprintHex
    self.isNeighbour = isNeighbour
    self.hops = hops
    self.lastHeardSecondsAgo = lastHeardSecondsAgo
    self.state = state
    self.isBot = isBot
    self.cardSequence = cardSequence
  }
}

/// How far a dial has come: the six steps to a connection that carries frames, and before and after them.
public enum LinkStepName: String, Codable, Sendable, CaseIterable {
  case heard, connecting, discoveringService, discoveringCharacteristic, subscribing, securing, ready
}

/// One line of `links.list`.
public struct LinkRecord: Codable, Sendable, Equatable {
  public enum Role: String, Codable, Sendable, CaseIterable { case central, peripheral }

  public struct Failure: Codable, Sendable, Equatable {
    public var step: LinkStepName
    public var reason: String

    public init(step: LinkStepName, reason: String) {
      self.step = step
      self.reason = reason
    }
  }

  public var id: String
  public var transport: String
  public var address: String
  public var role: Role
  public var step: LinkStepName
  public var peer: PeerReference?
  /// Bytes of the largest frame, once known.
  public var frameSize: Int?
  /// Signal strength in dBm, where the transport has one.
  public var rssi: Int?
  /// Packets that wait to be sent.
  public var queued: Int
  public var sent: UInt64
  public var received: UInt64
  public var retransmitted: UInt64
  /// How long the link has been in this step, in seconds.
  public var sinceSeconds: Double
  public var lastFailure: Failure?

  public init(
    id: String, transport: String, address: String, role: Role, step: LinkStepName, peer: PeerReference?,
    frameSize: Int?, rssi: Int?, queued: Int, sent: UInt64, received: UInt64, retransmitted: UInt64,
    sinceSeconds: Double, lastFailure: Failure?
  ) {
    self.id = id
    self.transport = transport
    self.address = address
    self.role = role
    self.step = step
    self.peer = peer
    self.frameSize = frameSize
    self.rssi = rssi
    self.queued = queued
    self.sent = sent
    self.received = received
    self.retransmitted = retransmitted
    self.sinceSeconds = sinceSeconds
    self.lastFailure = lastFailure
  }
}
