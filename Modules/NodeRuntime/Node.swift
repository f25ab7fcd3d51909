package import Advertising
package import Identities
package import Links
package import Primitives
package import Relaying
package import Scanning
package import Sessions
package import Streams
package import Telemetry
package import Transports

/// One node: the five actors, joined by streams, over the transports and the store it is given.
///
///     Transport ──sightings──▶ Scanner ──candidates──▶ LinkManager ──events──▶ Relay ──deliveries──▶ Session
///         ▲                                              │  ▲                    │  ▲                   │
///         └─ advertisement ◀─ Advertiser ◀─ occupancy ◀──┘  └──── outbound ◀─────┘  └──── originate ◀───┘
///
/// It knows no concrete transport, no file and no clock, so the daemon, a test and the simulator run the same one.
/// Contract: `run` returns when its task is cancelled, with every link closed.
package final class Node: Sendable {
  /// Makes the protection of links in a test, for the card that is ours at the time.
  package typealias SecurityDouble = @Sendable (Latest<VerifiedCard>) -> any LinkSecurity

  package struct Environment: Sendable {
    package var transports: [any Transport]
    package var store: any SessionStore
    package var saveIdentity:
      @Sendable (consuming Secret, _ cardSequence: UInt64) async throws(SessionStoreError) -> Void
    package var time: TimeSource
    package var random: RandomSource
    package var log: Log
    package var isClockSynchronised: @Sendable () -> Bool
    /// Of a closed community; nil for the open mesh.
    package var communityKey: CommunityKey?
    /// What tests put in place of the seal; nil, and nothing else in a program that is shipped, for the seal.
    package var security: SecurityDouble?
    /// Whether the node writes itself into the route of what it passes on.
    package var isNamedInRoutes = true
    /// Where what the relay has seen is kept for the next run; nil where nothing is.
    package var seenStore: (any SeenStore)?
    /// Where the addresses of proved peers are kept for the next run, for each of `transports`; none where nothing is.
    package var addressMemories: [TransportMemory] = []
    /// False only to show what the mesh does without its memory.
    package var isDeduplicating = true

    package init(
      transports: [any Transport], store: any SessionStore,
      saveIdentity:
        @escaping @Sendable (consuming Secret, _ cardSequence: UInt64) async throws(SessionStoreError) ->
        Void,
      time: TimeSource, random: RandomSource, log: Log, isClockSynchronised: @escaping @Sendable () -> Bool
    ) {
      self.transports = transports
      self.store = store
      self.saveIdentity = saveIdentity
      self.time = time
      self.random = random
      self.log = log
      self.isClockSynchronised = isClockSynchronised
    }
  }

  package let environment: Environment
  package let scanner: Scanner
  package let advertiser: Advertiser
  package let links: LinkManager
  package let relay: Relay
  package let session: Session
  package let copies: CopyWatch
  package let counters = CounterRegistry()

  /// - Parameters:
  ///   - keys: durable already.
  ///   - cardSequence: of the card made here; durable already, and never used before.
  package init(
    keys: consuming IdentityKeys, cardSequence: UInt64, profile: Session.Profile, environment: Environment
  ) throws {
    self.environment = environment
    let time = environment.time
    let random = environment.random
    let log = environment.log
    let ownID = keys.id
    let copies = CopyWatch(time: time, log: log.labelled("identity"))
    self.copies = copies
    let card = try keys.makeCard(
      name: profile.name, icon: profile.icon, capabilities: profile.capabilities, sequence: cardSequence,
      now: time.wallMilliseconds())
    let ownCard = Latest(card)
    let jitter = try Jitter(seed: random.u64())
    let security =
      environment.security?(ownCard)
      ?? LinkSeal(
        agreement: keys.sharedAgreementKey(), ownCard: ownCard, communityKey: environment.communityKey,
        random: random, time: time)
    links = try LinkManager(
      LinkManager.Configuration(
        ownID: ownID, transports: environment.transports, security: security, time: time,
        random: { jitter.next() }, log: log.labelled("links"),
        metCopy: { copies.met($0) }))
    scanner = Scanner(
      transports: environment.transports, candidates: links.candidates, occupancy: links.occupancy, time: time,
      log: log.labelled("scanner"))
    advertiser = Advertiser(
      transports: environment.transports, hint: UInt32(truncatingIfNeeded: try random.u64()),
      occupancy: links.occupancy, digest: Latest(0), time: time, log: log.labelled("advertiser"))
    let relay = Relay(
      configuration: Relay.Configuration(
        ownID: ownID, key: (try random.u64(), try random.u64()), isNamedInRoutes: environment.isNamedInRoutes,
        isDeduplicating: environment.isDeduplicating, time: time, isClockSynchronised: environment.isClockSynchronised,
        log: log.labelled("relay"), run: environment.seenStore == nil ? 0 : try random.u64(),
        seenStore: environment.seenStore),
      inbound: links.events, outbound: links.outbound, control: links.outboundControl)
    self.relay = relay
    session = try Session(
      keys: keys, profile: profile,
      ports: Session.Ports(
        deliveries: relay.deliveries, originate: { packet, id in await relay.originate(packet, id: id) },
        block: { [links] origins in
          await relay.block(origins)
          await links.block(origins)
        },
        store: environment.store, saveIdentity: environment.saveIdentity, ownCard: ownCard, time: time,
        random: random, log: log.labelled("session"), isClockSynchronised: environment.isClockSynchronised,
        metCopy: { copies.met($0) }, answered: { key in await relay.answered(key) }),
      isDeduplicating: environment.isDeduplicating)
    counters.register(links.counters)
    counters.register(scanner.counters)
    counters.register(advertiser.counters)
    counters.register(relay.counters)
    counters.register(session.counters)
    counters.register(copies.counters)
    for transport in environment.transports {
      counters.register(transport.properties.scheme) {
        transport.counters.sorted { $0.key < $1.key }.prefix(TransportsLimits.counters)
          .map { (reason: $0.key, count: $0.value) }
      }
    }
  }

  /// Runs the actors; the transports are run by whoever supervises them.
  ///
  /// Nothing of a neighbour is taken before the relay knows what it had seen before, and what it has seen since is written
  /// when nothing more can come.
  package func run() async {
    let addresses = AddressKeeper(
      links: links, transports: environment.transports.map(\.properties.name), memories: environment.addressMemories,
      time: environment.time)
    await addresses.recall()
    await relay.restore()
    await runActors(addresses)
    await addresses.keep()
    await relay.saveHistory(isLast: true)
  }

  private func runActors(_ addresses: AddressKeeper) async {
    await withDiscardingTaskGroup { [self] group in
      group.addTask { await self.session.run() }
      group.addTask { await self.relay.run() }
      group.addTask { await self.relay.keepHistory() }
      group.addTask { await addresses.run() }
      group.addTask { await self.links.run() }
      group.addTask { await self.scanner.run() }
      group.addTask { await self.advertiser.run() }
    }
  }
}

/// Random numbers for spreads and tokens: SplitMix64 from a random seed, because they need to be spread and not secret.
final class Jitter: Sendable {
  private let state: Protected<UInt64>

  init(seed: UInt64) { state = Protected(seed) }

  func next() -> UInt64 {
    state.withLock { state in
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }
}
