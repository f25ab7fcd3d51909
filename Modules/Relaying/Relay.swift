package import Identities
package import Routing
package import Streams
package import Telemetry
package import WireFormat

/// Passes packets on: asks `RelayEngine` about each, and hands what is to go out to the links and what is for us to the
/// session.
///
/// Contract: `run` returns when its task is cancelled or `inbound` ends, and finishes `deliveries`. Towards the links
/// it only offers, so that the circle of links and relay has one edge that never waits; towards the session it waits,
/// because a delivery is promised.
package actor Relay {
  package struct Configuration: Sendable {
    package var ownID: PeerID
    /// 128 random bits of this process.
    package var key: (UInt64, UInt64)
    /// Whether this node writes itself into the route of what it forwards.
    package var isNamedInRoutes: Bool
    /// False only to show what happens without the table of seen packets.
    package var isDeduplicating: Bool
    /// False for the first rules alone.
    package var usesTrees: Bool
    package var time: TimeSource
    /// Whether the time of day is known to be synchronised.
    package var isClockSynchronised: @Sendable () -> Bool
    package var log: Log
    /// A random number of this run.
    package var run: UInt64
    /// Where what was seen is kept for the next run; nil in a node that keeps nothing.
    package var seenStore: (any SeenStore)?

    package init(
      ownID: PeerID, key: (UInt64, UInt64), isNamedInRoutes: Bool = true, isDeduplicating: Bool = true,
      usesTrees: Bool = true, time: TimeSource, isClockSynchronised: @escaping @Sendable () -> Bool, log: Log,
      run: UInt64 = 0,
      seenStore: (any SeenStore)? = nil
    ) {
      self.ownID = ownID
      self.key = key
      self.isNamedInRoutes = isNamedInRoutes
      self.isDeduplicating = isDeduplicating
      self.usesTrees = usesTrees
      self.time = time
      self.isClockSynchronised = isClockSynchronised
      self.log = log
      self.run = run
      self.seenStore = seenStore
    }
  }

  let configuration: Configuration
  private let inbound: Channel<NeighbourEvent>
  private let outbound: Channel<OutboundPacket>
  private let control: Channel<OutboundControl>
  private let alarm: Alarm
  var engine: RelayEngine
  /// The last save failed.
  var isHistoryFailing = false
  private var peers: [Int: PeerID] = [:]

  /// What is for this node, in the order it came. One consumer: the session.
  package nonisolated let deliveries = Channel<Delivery>(capacity: RelayingLimits.waitingDeliveries)
  /// Every reception and its verdict.
  package nonisolated let receptions = Broadcast<Reception>(
    ringCapacity: RelayingLimits.receptionRing, subscriberLimit: RelayingLimits.receptionReaders)
  package nonisolated let counters = CounterSet<RelayCount>("relay")

  package init(
    configuration: Configuration, inbound: Channel<NeighbourEvent>, outbound: Channel<OutboundPacket>,
    control: Channel<OutboundControl>
  ) {
    self.configuration = configuration
    self.inbound = inbound
    self.outbound = outbound
    self.control = control
    alarm = Alarm(time: configuration.time)
    engine = RelayEngine(
      configuration: RelayEngine.Configuration(
        key: configuration.key, ownEntry: configuration.ownID.routeEntry,
        ownTag: Tag(rawValue: configuration.ownID.tag),
        isNamedInRoutes: configuration.isNamedInRoutes, isDeduplicating: configuration.isDeduplicating,
        usesTrees: configuration.usesTrees))
  }

  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { [alarm] in await alarm.run { await self.tick() } }
      await takeInbound()
      group.cancelAll()
    }
    deliveries.finish()
    receptions.finish()
  }

  private func tick() {
    var actions: [RelayAction] = []
    engine.tick(
      now: configuration.time.now(), wallMilliseconds: configuration.time.wallMilliseconds(), into: &actions)
    for action in actions { hand(action) }
    alarm.set(engine.deadline)
  }

  private func takeInbound() async {
    // Reused for every event, so that a decision allocates nothing.
    var actions: [RelayAction] = []
    for await event in inbound {
      actions.removeAll(keepingCapacity: true)
      let now = configuration.time.now()
      switch event {
      case .packet(let received):
        let wall = configuration.isClockSynchronised() ? configuration.time.wallMilliseconds() : nil
        engine.receive(received, wallMilliseconds: wall, into: &actions)
        await perform(actions, for: received)
      case .acknowledged(let slot, let keys):
        engine.acknowledged(slot, keys: keys, into: &actions)
        await perform(actions)
      case .up(let slot, let card):
        peers[slot] = card.id
        engine.neighbourUp(slot, entry: card.id.routeEntry, tag: Tag(rawValue: card.id.tag), now: now, into: &actions)
        await perform(actions)
        _ = await deliveries.send(.neighbourUp(card))
      case .down(let slot, let peer):
        peers[slot] = nil
        engine.neighbourDown(slot, now: now, into: &actions)
        await perform(actions)
        _ = await deliveries.send(.neighbourDown(peer))
      case .control(let slot, let frame):
        engine.control(frame, from: slot, now: now, into: &actions)
        await perform(actions)
      case .reassigned(let slot): engine.reassigned(slot)
      }
      alarm.set(engine.deadline)
    }
  }

  /// Sends a packet of our own on its way. Who calls: the session, also for one that was sent before a restart.
  ///
  /// - Returns: how many neighbours it goes to now; it is kept for those still to come.
  package func originate(_ packet: Packet, id: PacketID) -> Int {
    var actions: [RelayAction] = []
    let count = engine.originate(packet, id: id, now: configuration.time.now(), into: &actions)
    for action in actions { hand(action) }
    alarm.set(engine.deadline)
    return count
  }

  /// A packet of our own was answered, or nobody waits for an answer to it: it goes no further than it went. Who calls: the
  /// session, by `PacketID.key`.
  package func answered(_ key: UInt64) {
    var actions: [RelayAction] = []
    engine.answered(key, into: &actions)
    for action in actions { hand(action) }
  }

  /// Nothing of these origins is delivered or passed on any more, nor what is kept of them for neighbours still to come.
  /// Who calls: the session.
  package func block(_ origins: Set<Tag>) {
    var actions: [RelayAction] = []
    engine.block(origins, into: &actions)
    for action in actions { hand(action) }
  }

  /// Numbers for people: packets remembered, packets kept, bytes kept.
  package var tables: (remembered: Int, carried: Int, carriedBytes: Int) { engine.tables }

  private func perform(_ actions: [RelayAction], for received: ReceivedPacket? = nil) async {
    for action in actions {
      switch action {
      case .record(let verdict): if let received { record(received, verdict: verdict) }
      case .deliver(let packet, let id, let receivedAt):
        _ = await deliveries.send(.packet(packet, id: id, receivedAt: receivedAt))
      case .answerAgain(let packet, let id, let receivedAt):
        _ = await deliveries.send(.answerAgain(packet, id: id, receivedAt: receivedAt))
      case .handedOver(let key, let slot):
        if let peer = peers[slot] { _ = await deliveries.send(.handedOver(key: key, peer)) }
      case .count, .offer, .control: hand(action)
      }
    }
  }

  /// Carries out what never waits.
  private func hand(_ action: RelayAction) {
    switch action {
    case .count(let reason, let number): counters.count(reason, by: number)
    case .offer(let packet):
      counters.count(outbound.offer(packet) == .accepted ? (packet.isBacklog ? .backlog : .forwarded) : .outboundFull)
    case .control(let slot, let frame):
      if control.offer(OutboundControl(slot: slot, frame: frame)) != .accepted { counters.count(.controlFull) }
    case .record, .deliver, .answerAgain, .handedOver: break
    }
  }

  private func record(_ received: ReceivedPacket, verdict: RelayState.Verdict) {
    counters.count(RelayCount(verdict))
    guard receptions.hasSubscribers else { return }
    receptions.send(
      Reception(
        wallMilliseconds: configuration.time.wallMilliseconds(), link: received.link, neighbour: peers[received.slot],
        kind: received.packet.header.kind, id: received.id, hops: received.packet.header.hops &+ 1,
        byteCount: received.packet.encoded.count, verdict: verdict))
  }
}

extension RelayCount: CounterReason {}
