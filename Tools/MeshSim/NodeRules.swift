internal import Bytes
package import Routing
package import Streams
package import WireFormat

/// Who a node of the mesh is, for its rules.
package struct NodeSeed: Sendable {
  /// How it stands in a route; never 0.
  package var entry: UInt32
  package var tag: Tag
  /// 128 bits of its own.
  package var key: (UInt64, UInt64)
  /// Whether a shipped relay uses trees, or the first rules alone.
  package var usesTrees = true
  package var isNamedInRoutes = true
}

/// What the rules of a node want done; reused for every decision.
package struct RuleActions: Sendable {
  package var relay: [RelayAction] = []
  /// Link frames of types 64 and above, past every packet of that link, not acknowledged.
  package var control: [(slot: Int, content: [UInt8])] = []

  package init() {}

  mutating func removeAll() {
    relay.removeAll(keepingCapacity: true)
    control.removeAll(keepingCapacity: true)
  }
}

/// What one node decides: the rules of the shipped relay, or those of another mesh beside it. Everything below, which is
/// links, fragments, acknowledgements and the radio, is the same for all of them.
package protocol NodeRules: Sendable {
  init(_ seed: NodeSeed)

  /// - Parameter isCentral: this node has opened the link.
  mutating func neighbourUp(
    _ slot: Int, entry: UInt32, tag: Tag, isCentral: Bool, now: MonotonicTime, into actions: inout RuleActions)
  mutating func neighbourDown(_ slot: Int, now: MonotonicTime, into actions: inout RuleActions)
  /// The slot belongs to another peer from now on.
  mutating func reassigned(_ slot: Int)
  mutating func receive(_ received: ReceivedPacket, wallMilliseconds: UInt64, into actions: inout RuleActions)
  mutating func acknowledged(_ slot: Int, keys: [UInt64], now: MonotonicTime, into actions: inout RuleActions)
  mutating func originate(_ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout RuleActions)
  /// A packet of this node was answered.
  mutating func answered(_ key: UInt64, into actions: inout RuleActions)
  /// A link frame of type 64 or above.
  mutating func control(_ content: [UInt8], from slot: Int, now: MonotonicTime, into actions: inout RuleActions)
  mutating func tick(now: MonotonicTime, into actions: inout RuleActions)
  /// When `tick` has something to do. Mutating, so that it is asked in place and not of a copy of all that a node holds.
  mutating func nextDeadline() -> MonotonicTime?
  /// From now on what outlives the process is kept.
  mutating func keepMemory()
  /// The rules of the same node after a stop and a start.
  ///
  /// - Parameter keepsMemory: false when what was kept on disk is lost too.
  mutating func restarted(_ seed: NodeSeed, keepsMemory: Bool, now: MonotonicTime, wallMilliseconds: UInt64) -> Self
}

extension NodeRules {
  package mutating func reassigned(_ slot: Int) {}
  package mutating func acknowledged(
    _ slot: Int, keys: [UInt64], now: MonotonicTime, into actions: inout RuleActions
  ) {}
  package mutating func answered(_ key: UInt64, into actions: inout RuleActions) {}
  package mutating func control(
    _ content: [UInt8], from slot: Int, now: MonotonicTime, into actions: inout RuleActions
  ) {}
  package mutating func tick(now: MonotonicTime, into actions: inout RuleActions) {}
  package mutating func nextDeadline() -> MonotonicTime? { nil }
  package mutating func keepMemory() {}
  package mutating func restarted(
    _ seed: NodeSeed, keepsMemory: Bool, now: MonotonicTime, wallMilliseconds: UInt64
  ) -> Self { Self(seed) }
}

extension RelayCount {
  /// Where each stands among all.
  static let places = Dictionary(uniqueKeysWithValues: zip(allCases, allCases.indices))
}

/// The shipped relay, as the daemon runs it.
extension RelayEngine: NodeRules {
  package init(_ seed: NodeSeed) {
    self.init(
      configuration: Configuration(
        key: seed.key, ownEntry: seed.entry, ownTag: seed.tag, isNamedInRoutes: seed.isNamedInRoutes,
        usesTrees: seed.usesTrees))
  }

  package mutating func neighbourUp(
    _ slot: Int, entry: UInt32, tag: Tag, isCentral: Bool, now: MonotonicTime, into actions: inout RuleActions
  ) {
    neighbourUp(slot, entry: entry, tag: tag, now: now, into: &actions.relay)
  }

  package mutating func neighbourDown(_ slot: Int, now: MonotonicTime, into actions: inout RuleActions) {
    neighbourDown(slot, now: now, into: &actions.relay)
  }

  package mutating func receive(
    _ received: ReceivedPacket, wallMilliseconds: UInt64, into actions: inout RuleActions
  ) {
    receive(received, wallMilliseconds: Optional(wallMilliseconds), into: &actions.relay)
  }

  package mutating func acknowledged(
    _ slot: Int, keys: [UInt64], now: MonotonicTime, into actions: inout RuleActions
  ) {
    acknowledged(slot, keys: keys, into: &actions.relay)
  }

  package mutating func originate(
    _ packet: Packet, id: PacketID, now: MonotonicTime, into actions: inout RuleActions
  ) {
    _ = originate(packet, id: id, now: now, into: &actions.relay)
  }

  package mutating func answered(_ key: UInt64, into actions: inout RuleActions) {
    answered(key, into: &actions.relay)
  }

  package mutating func control(
    _ content: [UInt8], from slot: Int, now: MonotonicTime, into actions: inout RuleActions
  ) {
    guard let frame = try? LinkFrame(decoding: content.rawSpan) else { return }
    control(frame, from: slot, now: now, into: &actions.relay)
  }

  package mutating func tick(now: MonotonicTime, into actions: inout RuleActions) {
    tick(now: now, wallMilliseconds: Scenario.wallMilliseconds(now.nanoseconds), into: &actions.relay)
  }

  package mutating func nextDeadline() -> MonotonicTime? { deadline }
}
