package import Identities
package import Routing
package import Streams
package import Telemetry
package import Transports
package import WireFormat

/// Holds the links: dials whom the scanner heard, takes whom the transports bring, secures each link, keeps one logical
/// link per peer, and carries packets over it in frames.
///
/// It runs four state machines that decide everything (`DialPlan`, `LinkTable`, `HandshakeTransfer`, `LinkTransfer`)
/// and does what they say. Links are held as long as they can be. Contract: `run` returns when its task is cancelled,
/// with every link closed, and finishes `events`.
package actor LinkManager {
  package struct Configuration: Sendable {
    package var ownID: PeerID
    package var transports: [any Transport]
    package var security: any LinkSecurity
    package var time: TimeSource
    /// 64 random bits, for jitter and tokens.
    package var random: @Sendable () -> UInt64
    package var log: Log
    /// Told when a peer proves our own keys.
    package var metCopy: @Sendable (CopyEvidence) -> Void

    package init(
      ownID: PeerID, transports: [any Transport], security: any LinkSecurity, time: TimeSource,
      random: @escaping @Sendable () -> UInt64, log: Log,
      metCopy: @escaping @Sendable (CopyEvidence) -> Void = { _ in }
    ) {
      self.ownID = ownID
      self.transports = transports
      self.security = security
      self.time = time
      self.random = random
      self.log = log
      self.metCopy = metCopy
    }
  }

  enum Job: Sendable {
    case dial(DialPlan.Key)
    case serve(LinkID)
  }

  /// Neighbours, their packets and acknowledgements. One consumer: the relay.
  package nonisolated let events = Channel<NeighbourEvent>(capacity: LinksLimits.waitingEvents)
  /// Packets to hand over. One producer: the relay, which only offers.
  package nonisolated let outbound = Channel<OutboundPacket>(capacity: LinksLimits.waitingOutbound)
  /// Frames of the trees to hand over. One producer: the relay, which only offers.
  package nonisolated let outboundControl = Channel<OutboundControl>(capacity: LinksLimits.waitingControl)
  /// Addresses heard. One producer: the scanner.
  package nonisolated let candidates = Hints<DialPlan.Key, Candidate>(capacity: LinksLimits.candidates)
  package nonisolated let occupancy: Latest<LinkOccupancy>
  package nonisolated let notices = Broadcast<LinkNotice>(ringCapacity: 256, subscriberLimit: 16)
  package nonisolated let counters = CounterSet<LinkCount>("links")

  let configuration: Configuration
  let jobs = Channel<Job>(capacity: LinksLimits.candidates)
  let dialSteps = DialSteps()
  var table: LinkTable
  var plan: DialPlan
  var allowance = HandshakeAllowance()
  var reconnects = ReconnectWatch()
  var links: [LinkID: PhysicalLink] = [:]
  var transfers: [LinkTransfer?] = Array(repeating: nil, count: LinksLimits.slots)
  var reassembly: Reassembly
  var identifier: PacketIdentifier
  let alarm: Alarm
  /// Origins for whom nothing is handed over.
  var blocked: Set<Tag> = []
  var refusals = LogSampler()
  var narrowLinks = LogSampler()

  package init(_ configuration: Configuration) throws {
    self.configuration = configuration
    table = LinkTable(ownID: configuration.ownID)
    let limits = configuration.transports.map(\.properties.linkLimit)
    plan = DialPlan(linkLimits: limits)
    occupancy = Latest(LinkOccupancy(links: 0, limit: min(LinksLimits.slots, limits.reduce(0, +))))
    identifier = try PacketIdentifier()
    reassembly = Reassembly()
    alarm = Alarm(time: configuration.time)
  }

  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { [alarm] in await alarm.run { await self.tick() } }
      group.addTask { await self.sendOutbound() }
      group.addTask { await self.sendControl() }
      group.addTask { await self.takeCandidates() }
      for index in configuration.transports.indices {
        group.addTask { await self.watchState(of: index) }
        group.addTask { await self.takeInbound(of: index) }
      }
      for await job in jobs {
        switch job {
        case .dial(let key): group.addTask { await self.dial(key) }
        case .serve(let id): group.addTask { await self.serve(id) }
        }
      }
    }
    closeAll()
    events.finish()
  }

  /// Tells every neighbour goodbye; the links are closed when `run` ends.
  package func sayGoodbye() {
    for link in links.values where link.session != nil {
      send(LinkFrame.goodbye(.stopping).encoded, on: link)
    }
  }

  /// Replaces the origins for whom nothing is handed over; what waits of them is dropped. Who calls: the session, beside
  /// the relay.
  package func block(_ origins: Set<Tag>) {
    let added = origins.subtracting(blocked)
    blocked = origins
    guard !added.isEmpty else { return }
    for slot in transfers.indices { settleDrops(slot) { $0.drop(of: added) } }
  }

  // MARK: Transports

  /// Addresses of a transport that led to a peer in an earlier run: they are dialled first. Called before `run`.
  package func expect(_ addresses: [TransportAddress], on transport: Int) {
    plan.expect(addresses.map { DialPlan.Key(transport: transport, address: $0) })
  }

  /// Addresses of a transport that have led to a peer in this run, the best first.
  package func provedAddresses(on transport: Int) -> [TransportAddress] { plan.proved(on: transport) }

  private func watchState(of index: Int) async {
    for await state in configuration.transports[index].state {
      plan.powered(index, isOn: state == .poweredOn, now: configuration.time.now())
      configuration.log.notice(
        "transport state",
        ["transport": .text(configuration.transports[index].properties.name), "state": .text(state.rawValue)])
      startDials()
    }
  }

  private func takeInbound(of index: Int) async {
    for await link in configuration.transports[index].inbound { adopt(link, transport: index) }
  }

  private func takeCandidates() async {
    for await candidate in candidates {
      plan.heard(
        candidate.key, signalStrength: candidate.signalStrength, hint: candidate.hint, now: configuration.time.now(),
        random: configuration.random())
      startDials()
    }
  }

  func startDials() {
    let now = configuration.time.now()
    let peers = Set(table.slots.compactMap { $0?.active == nil ? nil : $0?.peer })
    let keys = plan.dials(
      now: now,
      links: { transport in
        // What others have opened and not proved makes room for a dial.
        self.links.values.count {
          $0.key.transport == transport && self.table.links[$0.link.id]?.isHalfOpenByOther != true
        }
      },
      isLinked: { peers.contains($0) })
    for key in keys {
      counters.count(.dialsStarted)
      jobs.offer(.dial(key))
    }
    alarm.set(plan.deadline(after: now))
  }

  private func dial(_ key: DialPlan.Key) async {
    let transport = configuration.transports[key.transport]
    let name = transport.properties.name
    dialSteps.reached(.scan, by: key)
    defer { dialSteps.reached(nil, by: key) }
    do {
      let link = try await transport.connect(to: key.address) { [dialSteps, notices] step in
        dialSteps.reached(step, by: key)
        if notices.hasSubscribers {
          notices.send(.dialReached(transport: name, address: key.address.description, step))
        }
      }
      adopt(link, transport: key.transport)
    } catch {
      let (step, reason) = Self.failure(error, reached: dialSteps[key] ?? .scan)
      counters.count(.dialsFailed)
      configuration.log.debug(
        "dial failed", ["address": .text(key.address.description), "step": .description(step), "reason": .text(reason)])
      notices.send(.dialFailed(transport: name, address: key.address.description, step: step, reason: reason))
      plan.failed(
        key, step: step, reason: reason, now: configuration.time.now(), random: configuration.random())
      startDials()
    }
  }

  private static func failure(_ error: TransportError, reached: DialStep) -> (DialStep, String) {
    func next(_ step: DialStep) -> DialStep { DialStep(rawValue: step.rawValue + 1) ?? .subscribe }
    return switch error {
    case .dialFailed(let reached, let reason): (next(reached), reason)
    case .notPoweredOn: (next(reached), "the transport is not powered on")
    case .noFreeLink(let limit): (next(reached), "all \(limit) links are in use")
    case .cancelled: (next(reached), "given up")
    case .failed(let reason): (next(reached), reason)
    }
  }

  private func adopt(_ link: any TransportLink, transport: Int) {
    let now = configuration.time.now()
    let key = DialPlan.Key(transport: transport, address: link.address)
    plan.linked(key, now: now)
    counters.count(.opened)
    let hello = Hello(frameSize: UInt16(clamping: link.frameSize), token: configuration.random())
    let physical = PhysicalLink(
      link: link, key: key, hello: hello.bytes,
      bytesPerSecond: configuration.transports[transport].properties.bytesPerSecond, now: now)
    links[link.id] = physical
    guard link.frameSize >= TransportsLimits.smallestFrame else {
      physical.closeReason = .frameTooSmall
      link.close()
      jobs.offer(.serve(link.id))
      return
    }
    guard link.role == .central || allowance.begin(key, now: now) else {
      counters.count(.handshakesOverRate)
      physical.closeReason = .tooManyHandshakes
      link.close()
      jobs.offer(.serve(link.id))
      return
    }
    let refusals = table.opened(link.id, role: link.role, now: now)
    alarm.set(table.deadline)
    jobs.offer(.serve(link.id))
    for case .close(let id, let reason) in refusals { close(id, reason) }
  }

  // MARK: Listing

  package func records() -> [LinkRecord] {
    let now = configuration.time.now()
    let open = links.values.sorted { $0.link.id < $1.link.id }.map { physical -> LinkRecord in
      let slot = physical.slot.flatMap { table.slots[$0] }
      let transfer = physical.slot.flatMap { transfers[$0] }
      let isActive = slot?.active == physical.link.id
      return LinkRecord(
        link: physical.link.id.number, transport: configuration.transports[physical.key.transport].properties.name,
        address: physical.key.address.description, role: physical.link.role,
        step: physical.session == nil ? .securing : .ready, peer: slot?.peer, isActive: isActive,
        frameSize: physical.frameSize, signalStrength: plan.candidates[physical.key]?.signalStrength,
        queued: isActive ? transfer?.waiting ?? 0 : 0, framesSent: physical.framesSent,
        framesReceived: physical.framesReceived, retransmitted: transfer?.retransmitted ?? 0,
        ageSeconds: Double(now.milliseconds(since: physical.openedAt)) / 1_000,
        lastFailure: plan.candidates[physical.key]?.lastFailure)
    }
    let linkedKeys = Set(links.values.map(\.key))
    let dialled = plan.candidates.filter { $0.value.phase != .linked && !linkedKeys.contains($0.key) }
      .sorted { $0.key.address.description < $1.key.address.description }
      .map { key, candidate -> LinkRecord in
        LinkRecord(
          link: nil, transport: configuration.transports[key.transport].properties.name,
          address: key.address.description, role: .central,
          step: candidate.phase.isDialling ? .dial(dialSteps[key] ?? .scan) : .waiting, peer: candidate.peer,
          isActive: false, frameSize: 0, signalStrength: candidate.signalStrength, queued: 0, framesSent: 0,
          framesReceived: 0, retransmitted: 0, ageSeconds: 0, lastFailure: candidate.lastFailure)
      }
    return open + dialled
  }
}
