internal import Archive
internal import ControlServer
internal import Database
internal import Glibc
internal import Identities
internal import Keying
internal import Lifecycle
internal import Primitives
internal import Sessions
internal import Storing
internal import Streams
internal import Telemetry
internal import Transports

/// The daemon as a process: opens what is on disk, joins node, transports and control socket, and ends in two stages.
enum DaemonProcess {
  static func run(
    _ configuration: DaemonConfiguration, environment: [String: String], security: Node.SecurityDouble?
  ) async throws(DaemonError) -> Int32 {
    umask(0o077)
    let isProtected = ProcessProtection.begin()
    let log = makeLog(configuration, environment: environment)
    if !isProtected { log.error("the memory of this process may end up in a core file: the kernel does not forbid it") }
    let state = try openState(configuration.statePath)
    let vault = try await StateVault.open(
      state, keys: configuration.key, environment: environment, proving: configuration.proving,
      wall: { TimeSource.system.wallMilliseconds() })
    let (plain, archive) = (vault.store, vault.archive)
    let clock: FlooredClock
    do {
      clock = try await FlooredClock.load(
        from: plain, system: .system, isSynchronised: { SystemClock.isSynchronised }, log: log)
    } catch {
      throw .store(error)
    }
    let time = clock.time
    let identity: NodeIdentity
    do {
      let isFirst = try await archive.isEmpty()
      identity = try await NodeIdentity.load(
        from: plain, mayBegin: isFirst, random: .system, wall: time.wallMilliseconds())
    } catch let error as NodeIdentityError {
      throw .identity(error)
    } catch let error as DatabaseError {
      throw .database(error)
    } catch {
      throw .primitive
    }
    let profile = try await profile(configuration, plain: plain)
    let transports = try makeTransports(
      configuration, time: time, name: profile.name.text, plain: plain, log: log)
    let node = try makeNode(
      identity, profile: profile, transports: transports, plain: plain, archive: archive, time: time,
      log: log, configuration: configuration, security: security)
    let stop = Stop()
    let events = ControlEvents()
    let controlCounters = node.counters.makeSet("control", of: ControlCounter.self)
    let service = NodeService(
      node: node, stop: stop, version: Daemon.version, startedAt: time.now(), counters: node.counters,
      vault: vault)
    try prepareSocketDirectory(configuration.socketPath)
    let server: ControlSocketServer
    do {
      server = try ControlSocketServer(
        path: configuration.socketPath, group: configuration.group, service: service, events: events,
        counters: controlCounters, now: { Int64(clamping: time.wallMilliseconds()) })
    } catch {
      throw .socket(error)
    }
    let signals: AsyncStream<UnixSignal>
    do { signals = try UnixSignals.stream() } catch { throw .signals }
    let ready = ReadinessNotification(socket: environment["NOTIFY_SOCKET"])
    let record = RecordKeeper(recorder: vault.recorder, time: time, log: log.labelled("state"))
    let parts = NodeParts(
      node: node, transports: transports, server: server, bridge: EventBridge(node: node, events: events),
      clock: clock,
      keeper: StoreKeeper(
        store: vault.migrating, directory: state.path, time: time, log: log.labelled("store")),
      history: HistoryKeeper(
        archive: archive, policy: configuration.retention, isClockSynchronised: { SystemClock.isSynchronised },
        time: time, log: log.labelled("history")), record: record,
      stop: stop, ready: ready, log: log)
    if vault.protection == .none {
      log.notice(
        "at rest nothing is protected: whoever has the disk reads it; relaychatd init --help says how to seal it")
    } else {
      for name in await vault.openFiles() {
        log.warning("at rest not all is sealed: whoever has the disk reads this", ["file": .text(name)])
      }
    }
    log.notice("node starts", ["peer": .text(node.session.ownID.shortHex), "version": .text(Daemon.version)])
    let outcome = await ServiceGroup(
      [parts], stop: stop, signals: signals, clock: ContinuousClock.continuous, giveUp: { code in _exit(code) }
    ).run()
    await record.end()
    log.notice("node ended")
    withExtendedLifetime(state) {}
    if case .failed(let error) = outcome, let error = error as? DaemonError { throw error }
    return outcome.exitCode
  }

  private static func makeLog(_ configuration: DaemonConfiguration, environment: [String: String]) -> Log {
    let sink: any LogSink =
      configuration.isJSONLog
      ? JSONLogSink(descriptor: 2, now: { SystemTime.sinceEpoch() })
      : TextLogSink(
        descriptor: 2, isJournal: environment["JOURNAL_STREAM"] != nil, now: { SystemTime.sinceEpoch() })
    return Log(label: "node", threshold: configuration.logLevel, sink: sink)
  }

  private static func openState(_ path: String) throws(DaemonError) -> StateDirectory {
    do { return try StateDirectory(path: path) } catch { throw .state(error) }
  }

  /// What the node calls itself: as told now, else as last time, else like the host.
  private static func profile(
    _ configuration: DaemonConfiguration, plain: any KeyValueStore
  ) async throws(DaemonError) -> Session.Profile {
    func text(_ name: String) async throws(DaemonError) -> String? {
      do { return (try await plain.get(name)).map { String(decoding: $0, as: UTF8.self) } } catch {
        throw .store(error)
      }
    }
    // A name that is like an ID would name nobody.
    func own(_ text: String) -> PeerName? { (try? PeerName(text)).flatMap { $0.isLikeID ? nil : $0 } }
    let name: PeerName
    if let told = configuration.name {
      name = told
    } else if let kept = (try await text(NodeIdentity.nameName)).flatMap({ own($0) }) {
      name = kept
    } else {
      let host = (try? PeerName(cutting: hostName())).flatMap { own($0.text) }
      guard let chosen = host ?? own("node") else { throw .primitive }
      name = chosen
    }
    let kept = try await text(NodeIdentity.iconName)
    let icon = configuration.icon ?? kept.flatMap { try? PeerIcon($0) } ?? .none
    do {
      try await plain.put([
        (NodeIdentity.nameName, Array(name.text.utf8)), (NodeIdentity.iconName, Array(icon.text.utf8)),
      ])
    } catch {
      throw .store(error)
    }
    return Session.Profile(name: name, icon: icon, capabilities: configuration.isBot ? [.bot] : [])
  }

  private static func hostName() -> String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "node" }
    let end = bytes.firstIndex(of: 0) ?? bytes.count
    return String(decoding: bytes[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func makeTransports(
    _ configuration: DaemonConfiguration, time: TimeSource, name: String, plain: any KeyValueStore, log: Log
  ) throws(DaemonError) -> [NodeParts.RunningTransport] {
    let seed: UInt64
    do { seed = try RandomSource.system.u64() } catch { throw .primitive }
    let jitter = Jitter(seed: seed)
    let counter = LinkNumbers()
    var made: [NodeParts.RunningTransport] = []
    for chosen in configuration.transports {
      let log = log.labelled(chosen.options.scheme)
      let memory = TransportShelf(scheme: chosen.options.scheme, store: plain, log: log).memory
      let context = TransportContext(
        time: time, random: { jitter.next() }, nextLinkID: { counter.next() }, nodeName: name,
        note: { text in log.notice("transport", ["note": .text(text)]) },
        memory: memory)
      do {
        made.append(
          NodeParts.RunningTransport(
            transport: try chosen.factory.make(chosen.options, context), jitter: jitter, memory: memory))
      } catch {
        throw .transport(chosen.options.scheme, error, place: chosen.place)
      }
    }
    return made
  }

  private static func makeNode(
    _ identity: consuming NodeIdentity, profile: Session.Profile, transports: [NodeParts.RunningTransport],
    plain: any KeyValueStore, archive: MessageArchive, time: TimeSource, log: Log, configuration: DaemonConfiguration,
    security: Node.SecurityDouble?
  ) throws(DaemonError) -> Node {
    var environment = Node.Environment(
      transports: transports.map(\.transport), store: archive,
      saveIdentity: { secret, sequence async throws(SessionStoreError) in
        do { try await NodeIdentity.save(secret, sequence: sequence, in: plain) } catch {
          throw SessionStoreError(reason: "\(error)")
        }
      },
      time: time, random: .system, log: log, isClockSynchronised: { SystemClock.isSynchronised })
    environment.addressMemories = transports.map(\.memory)
    environment.seenStore = SeenShelf(archive: archive)
    environment.isNamedInRoutes = configuration.isNamedInRoutes
    environment.communityKey = configuration.communityKey
    environment.security = security
    let sequence = identity.cardSequence
    do {
      return try Node(keys: identity.keys, cardSequence: sequence, profile: profile, environment: environment)
    } catch {
      throw .primitive
    }
  }

  /// The directory of the socket is made for its owner alone, when it is not there.
  private static func prepareSocketDirectory(_ socket: String) throws(DaemonError) {
    guard let slash = socket.lastIndex(of: "/"), slash != socket.startIndex else { return }
    let directory = String(socket[..<slash])
    guard unsafe access(directory, F_OK) != 0 else { return }
    do { try PrivateDirectory.prepare(directory) } catch { throw .state(.directory(error)) }
  }
}

/// Counts links, from one.
final class LinkNumbers: Sendable {
  private let number = Protected<UInt64>(0)

  func next() -> LinkID {
    LinkID(
      number: number.withLock { number in
        number += 1
        return number
      })
  }
}
