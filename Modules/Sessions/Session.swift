package import Identities
package import Primitives
package import Routing
package import Streams
package import Telemetry
package import WireFormat

/// What people and programs have to do with: who is there, what was said, and saying something.
///
/// The session signs what leaves in our name and verifies what comes in another's, once, after the relay has passed it
/// on. Nothing is stored, shown or answered before its author is proved. Contract: `run` returns when its task is
/// cancelled or the deliveries end; a message that `send` returned is on disk.
package actor Session {
  package struct Profile: Sendable, Equatable {
    package var name: PeerName
    package var icon: PeerIcon
    package var capabilities: Capabilities

    package init(name: PeerName, icon: PeerIcon, capabilities: Capabilities) {
      self.name = name
      self.icon = icon
      self.capabilities = capabilities
    }
  }

  /// What the session is lent.
  package struct Ports: Sendable {
    package var deliveries: Channel<Delivery>
    /// Hands a packet of ours to the relay; answers to how many neighbours it goes now.
    package var originate: @Sendable (Packet, PacketID) async -> Int
    /// Tells the relay that nobody waits for an answer to a packet of ours any more, by `PacketID.key`: it goes no further.
    package var answered: @Sendable (UInt64) async -> Void
    /// Tells the relay for whom nothing is carried.
    package var block: @Sendable (Set<Tag>) async -> Void
    package var store: any SessionStore
    /// Makes keys and card sequence durable, before a card made of them leaves.
    package var saveIdentity:
      @Sendable (consuming Secret, _ cardSequence: UInt64) async throws(SessionStoreError) -> Void
    package var ownCard: Latest<VerifiedCard>
    package var time: TimeSource
    package var random: RandomSource
    package var log: Log
    /// Whether something keeps our time of day right.
    package var isClockSynchronised: @Sendable () -> Bool
    /// Told when our own identity shows that it also runs elsewhere.
    package var metCopy: @Sendable (CopyEvidence) -> Void

    package init(
      deliveries: Channel<Delivery>, originate: @escaping @Sendable (Packet, PacketID) async -> Int,
      block: @escaping @Sendable (Set<Tag>) async -> Void, store: any SessionStore,
      saveIdentity:
        @escaping @Sendable (consuming Secret, _ cardSequence: UInt64) async throws(SessionStoreError) ->
        Void,
      ownCard: Latest<VerifiedCard>, time: TimeSource, random: RandomSource, log: Log,
      isClockSynchronised: @escaping @Sendable () -> Bool,
      metCopy: @escaping @Sendable (CopyEvidence) -> Void = { _ in },
      answered: @escaping @Sendable (UInt64) async -> Void = { _ in }
    ) {
      self.answered = answered
      self.deliveries = deliveries
      self.originate = originate
      self.block = block
      self.store = store
      self.saveIdentity = saveIdentity
      self.ownCard = ownCard
      self.time = time
      self.random = random
      self.log = log
      self.isClockSynchronised = isClockSynchronised
      self.metCopy = metCopy
    }
  }

  package nonisolated let ownID: PeerID
  package nonisolated let events = Broadcast<SessionEvent>(
    ringCapacity: SessionsLimits.eventRing, subscriberLimit: SessionsLimits.eventReaders)
  package nonisolated let counters = CounterSet<SessionCount>("session")

  let ports: Ports
  let isDeduplicating: Bool
  var keys: IdentityKeys
  var profile: Profile
  var directory: PeerDirectory
  var contacts = ContactBook()
  var held = HeldPackets()
  var recent = RecentMessages()
  var ages = MessageAges()
  private var clock = ClockSteps()
  var pings = PingLedger()
  var waitingPings: [UInt64: Channel<PingAnswer>] = [:]
  var identifier: PacketIdentifier
  /// Own packets on their way to a first neighbour, oldest first.
  var tracked: [(key: UInt64, message: MessageID)] = []
  /// Own packets that were sent to one peer, until it has answered, oldest first.
  var unanswered: [(key: UInt64, message: MessageID)] = []
  var isSendingWaiting = false
  var isWaitingDue = false
  var map = MeshMap()
  var presenceDue: MonotonicTime
  var presenceSentAt = MonotonicTime.start
  private let alarm: Alarm

  /// - Parameter keys: the keys that `ports.ownCard` was made of.
  package init(
    keys: consuming IdentityKeys, profile: Profile, ports: Ports, isDeduplicating: Bool = true
  ) throws(PrimitiveError) {
    ownID = keys.id
    self.keys = keys
    self.profile = profile
    self.ports = ports
    self.isDeduplicating = isDeduplicating
    directory = PeerDirectory(ownID: ports.ownCard.value.id)
    identifier = try PacketIdentifier()
    presenceDue = ports.time.now()
    alarm = Alarm(time: ports.time)
  }

  package func run() async {
    await restore()
    await announceCard()
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [alarm] in await alarm.run { await self.tick() } }
      await tick()
      for await delivery in ports.deliveries {
        await handle(delivery)
        setAlarm()
      }
      group.cancelAll()
    }
    events.finish()
  }

  /// Our own card as it is known to others now.
  package var ownCard: VerifiedCard { ports.ownCard.value }

  // MARK: Time

  private func tick() async {
    let now = ports.time.now()
    tell(directory.expire(now: now))
    let droppedBefore = held.dropped
    held.expire(now: now)
    counters.count(.heldDropped, by: held.dropped - droppedBefore)
    if now >= presenceDue { await sendPresence(now: now) }
    await renewCardIfDue()
    setAlarm()
  }

  func setAlarm() {
    alarm.set(directory.deadline)
    alarm.set(held.deadline)
    alarm.set(presenceDue)
  }

  // MARK: Our own card

  private func restore() async {
    do {
      contacts = ContactBook(try await ports.store.contacts(limit: IdentitiesLimits.contactCount))
      for peer in contacts.peers { directory.setPinned(true, peer) }
      for card in try await ports.store.cards(limit: IdentitiesLimits.cardCount) { directory.restore(card) }
      // A contact may have taken a name when the last run ended before that was kept.
      for card in directory.cards where contacts[card.id] != nil { await compare(card.id, name: card.card.name) }
      await publishBlocked()
      let wall = ports.time.wallMilliseconds()
      let oldest = wall - min(wall, PacketKind.personal.lifetime)
      let messages = try await ports.store.ownMessages(
        since: oldest, author: ownID, limit: SessionsLimits.resentMessages)
      for message in messages { await sendAgain(message) }
      await sendWaiting(to: nil)
    } catch {
      counters.count(.storeFailed)
      ports.log.error("the store does not answer", ["reason": .text(error.reason)])
    }
  }

  /// A message of an earlier run: the same packet, so that whoever has it refuses it, older by the time since.
  private func sendAgain(_ message: StoredMessage) async {
    guard let bytes = message.packet else { return }
    if case .peer(let recipient) = message.conversation, contacts[recipient]?.isBlocked == true { return }
    let wall = ports.time.wallMilliseconds()
    let age = wall - min(wall, message.storedMilliseconds)
    guard age < message.lifetimeMilliseconds,
      let aged = Self.packet(bytes, agedTo: age),
      let id = try? identifier.id(of: aged)
    else { return }
    track(id.key, message.id, to: message.conversation)
    _ = recent.insert(message.id, of: ownID)
    _ = await ports.originate(aged, id)
  }

  /// The packet with this age, whatever the age it is kept with.
  private static func packet(_ kept: [UInt8], agedTo milliseconds: UInt64) -> Packet? {
    var bytes = kept
    Packet.setAge(&bytes, at: 0, to: UInt32(clamping: milliseconds))
    return try? Packet(decoding: bytes)
  }

  /// Floods the card, so that peers out of our reach have it too.
  func announceCard() async {
    let card = ports.ownCard.value
    guard
      let packet = try? PacketDraft(
        kind: .card, time: ports.time.wallMilliseconds(), origin: ownTag, body: card.encoded,
        hints: timeHints
      ).unsigned(), let id = try? identifier.id(of: packet)
    else { return }
    _ = await ports.originate(packet, id)
  }

  /// A new prekey is due once a day, and with it a new card; a card is due too when the time of day was set.
  private func renewCardIfDue() async {
    let wall = ports.time.wallMilliseconds()
    if let before = clock.step(wall: wall, now: ports.time.now()) {
      ports.log.notice(
        "the time of day was set", ["milliseconds": .integer(Int64(clamping: wall) - Int64(clamping: before))])
      keys.clockStepped(from: before, to: wall)
      _ = await issueCard(wall: wall)
    }
    do {
      guard try keys.rotateIfDue(now: wall) else { return }
    } catch {
      ports.log.error("no new prekey could be made")
      return
    }
    _ = await issueCard(wall: wall)
  }

  /// Changes the name or icon; everybody learns it without reconnecting.
  package func setProfile(_ profile: Profile) async -> Bool {
    self.profile = profile
    return await issueCard(wall: ports.time.wallMilliseconds())
  }

  private func issueCard(wall: UInt64) async -> Bool {
    let sequence = ports.ownCard.value.card.sequence + 1
    do {
      let secret = try keys.export()
      try await ports.saveIdentity(secret, sequence)
      let card = try keys.makeCard(
        name: profile.name, icon: profile.icon, capabilities: profile.capabilities, sequence: sequence, now: wall)
      ports.ownCard.set(card)
    } catch {
      counters.count(.storeFailed)
      ports.log.error("the new card could not be kept, the old one stays")
      return false
    }
    await announceCard()
    return true
  }

  /// Says with each packet whether its time may be held against it.
  var timeHints: UInt8 { ports.isClockSynchronised() ? 0 : PacketFlags.clockUnsure.rawValue }

  var ownTag: Tag { Tag(rawValue: ownID.tag) }

  func tell(_ changes: [PeerChange]) {
    for change in changes {
      ports.log.info("peer", ["change": .text(change.kind.rawValue), "peer": .text(change.peer.shortHex)])
      events.send(.peer(change))
    }
  }

  func track(_ key: UInt64, _ message: MessageID, to conversation: Conversation) {
    tracked.append((key, message))
    if tracked.count > SessionsLimits.trackedPackets { tracked.removeFirst() }
    guard conversation != .everyone else { return }
    unanswered.append((key, message))
    if unanswered.count > SessionsLimits.unansweredPackets { unanswered.removeFirst() }
  }
}
