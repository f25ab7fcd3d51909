internal import DBusKit
internal import Streams
internal import Telemetry
internal import Transports

/// Runs the state of a `BlueZRadio`: reads what BlueZ says, asks the plans, carries out what they answer.
actor BlueZHost {
  typealias Answer = Channel<Result<BlueZLink, TransportError>>

  /// Something that has an answer to wait for.
  enum Job: Sendable {
    case plan(AdapterPlan.Action)
    case connect(device: String, dial: UInt64)
    case disconnect(device: String)
    case remove(device: String, adapter: String)
    case subscribe(device: String, characteristic: String)
    case acquire(device: String, characteristic: String)
    case snapshot(generation: Int, owner: String)
    case recallCeiling(adapter: String)
    case keepCeiling(adapter: String, [UInt8])
  }

  struct Pending {
    var answer: Answer
    var progress: @Sendable (DialStep) -> Void
    var reached: DialStep
    var giveUpAt: MonotonicTime
    var isConnecting = false
    /// The connection was there before: an earlier run's, say, that BlueZ may be about to end.
    var isAdopted = false
    /// When it began.
    var openLinks = 0
  }

  struct Peer {
    var negotiation: LinkNegotiation
    var link: BlueZLink?
    var dial: UInt64?
    var access = WriteAccess()
    /// Where values go, once BlueZ has handed it out.
    var socket: DBusDescriptor?
    /// Of its lost and reordered frames, those that are in the counters.
    var counted: (lost: UInt64, reordered: UInt64, garbage: UInt64) = (0, 0, 0)
  }

  let configuration: BlueZRadio.Configuration
  let context: TransportContext
  let state: Latest<TransportState>
  let sightings: Hints<TransportAddress, Sighting>
  let inbound: Channel<any TransportLink>
  let alarm: Alarm
  /// The owner of `org.bluez`, and what is advertised: asked by the exported objects on the bus' own actor.
  let shared = SharedFacts()

  var jobs = Channel<Job>(capacity: 256)
  var outgoing = Channel<DBusMessage>(capacity: 2_048)
  /// Links with something to send, or that were closed.
  let kicks = Hints<LinkID, BlueZLink>(capacity: 64)

  var mirror = ObjectMirror()
  var plan: AdapterPlan
  var adapter: String?
  var seenGeneration = 0
  var dials = DialQueue()
  var pending: [UInt64: Pending] = [:]
  var peers: [String: Peer] = [:]
  /// Connections that have ended, until it is known why, and those that BlueZ was asked to end.
  var endings: [String: MonotonicTime] = [:]
  var closing: Set<String> = []
  /// Links that were closed with frames waiting, and until when those may go.
  var drains: [String: MonotonicTime] = [:]
  /// Links that we have left, and until when whoever dialled is expected to hang up.
  var partings: [String: MonotonicTime] = [:]
  var ceiling: LinkCeiling
  var duty: ScanDuty
  var isScanning = false
  /// The address of the adapter whose ceiling that is.
  var ceilingAdapter: String?
  var nextSightings = MonotonicTime.start
  let counters: CounterSet<BlueZCounter>
  /// The bus does not let us speak to this owner.
  var isDenied = false
  var lastNote: BlueZNotice?

  init(
    configuration: BlueZRadio.Configuration, context: TransportContext, state: Latest<TransportState>,
    sightings: Hints<TransportAddress, Sighting>, inbound: Channel<any TransportLink>,
    counters: CounterSet<BlueZCounter>
  ) {
    self.configuration = configuration
    self.context = context
    self.state = state
    self.sightings = sightings
    self.inbound = inbound
    self.counters = counters
    alarm = Alarm(time: context.time)
    plan = AdapterPlan(mayPower: configuration.mayPower)
    ceiling = LinkCeiling(now: context.time.now())
    duty = ScanDuty(now: context.time.now())
  }

  var now: MonotonicTime { context.time.now() }

  /// Connects to the bus, again and again, until the task is cancelled.
  func run() async throws {
    var wait = BlueZLimits.firstRetry
    while !Task.isCancelled {
      do throws(DBusError) {
        let bus = try await DBusConnection.open(configuration.bus, time: context.time)
        wait = BlueZLimits.firstRetry
        await serve(bus)
        guard !Task.isCancelled else { break }
        note(.busGone)
      } catch {
        become(.unsupported)
        note(.noBus(reason: error.sentence))
      }
      try? await context.time.sleep(now.advanced(by: wait))
      wait = min(wait * 2, BlueZLimits.lastRetry)
    }
    become(.poweredOff)
  }

  private func serve(_ bus: DBusConnection) async {
    let (jobs, outgoing) = (Channel<Job>(capacity: 256), Channel<DBusMessage>(capacity: 2_048))
    (self.jobs, self.outgoing) = (jobs, outgoing)
    for object in exported { await bus.export(object) }
    await withDiscardingTaskGroup { group in
      group.addTask { [shared] in
        await bus.run(lastWords: { shared.sayGoodbye() })
        jobs.finish()
      }
      group.addTask { await self.begin(bus) }
      group.addTask { await self.follow(bus) }
      group.addTask { [alarm] in await alarm.run { await self.tick() } }
      group.addTask { await self.serveLinks() }
      group.addTask { await self.write(outgoing, to: bus) }
      for await job in jobs { group.addTask { await self.perform(job, on: bus) } }
      group.cancelAll()
    }
    lose(owner: nil, isTold: false)
  }

  private var exported: [DBusObject] {
    let isOwner: @Sendable (String?) -> Bool = { [shared] sender in
      shared.state.withLock { $0.owner != nil && $0.owner == sender }
    }
    return ExportedObjects.application(isOwner: isOwner) + [
      ExportedObjects.advertisement(
        { [shared] in shared.state.withLock { $0.advertisement?.properties(isBare: $0.isBare) ?? [:] } },
        isOwner: isOwner)
    ]
  }

  /// Match rules first, then who owns the name: nothing is missed in between.
  private func begin(_ bus: DBusConnection) async {
    do throws(DBusError) {
      try await bus.addMatch(
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(BlueZNames.service)'")
      try await bus.addMatch(
        "type='signal',sender='\(BlueZNames.service)',interface='\(BlueZNames.objectManager)'")
      try await bus.addMatch(
        "type='signal',sender='\(BlueZNames.service)',interface='\(BlueZNames.properties)',path_namespace='\(BlueZNames.root)'"
      )
      let reply = try await bus.call(
        .call(
          "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner",
          [.string(BlueZNames.service)]))
      // A change of owner that came meanwhile knows better.
      if mirror.owner == nil { lose(owner: reply.arguments.first?.asString) }
    } catch {
      if mirror.owner == nil { lose(owner: nil) }
      if error.isDenial {
        become(.unauthorized)
        note(.notAllowed)
      }
    }
  }

  /// BlueZ has another owner, or none: everything of before is gone.
  ///
  /// - Parameter isTold: false where the bus has ended with it, which is told instead.
  func lose(owner: String?, isTold: Bool = true) {
    for device in peers.keys.sorted() { drop(device, .transportStopped, "BlueZ has gone") }
    peers = [:]
    for number in dials.numbers { fail(number, .notPoweredOn) }
    mirror.setOwner(owner)
    isDenied = false
    shared.state.withLock { $0.owner = owner }
    counters.count(.ownerChanges)
    if owner != nil {
      askForEverything()
    } else if isTold {
      note(.notRunning)
    }
    reconcile()
  }

  // MARK: What BlueZ says

  func askForEverything() {
    guard let owner = mirror.owner else { return }
    mirror.willAsk()
    jobs.offer(.snapshot(generation: mirror.generation, owner: owner))
  }

  /// Reads on this actor: an event costs no change of thread while others wait.
  private func follow(_ bus: DBusConnection) async {
    for await event in bus.events { receive(event) }
  }

  private func serveLinks() async {
    for await link in kicks { serve(link) }
  }

  private func receive(_ event: DBusEvent) {
    switch event {
    case .missed(let number):
      counters.count(.missedSignals, by: UInt64(number))
      // What was missed may have been anything: look at everything again.
      askForEverything()
    case .call(let call, _): receive(call)
    case .signal(let signal, let order): receive(signal, order: order)
    }
  }

  private func receive(_ signal: DBusMessage, order: UInt64) {
    if signal.member == "NameOwnerChanged", signal.sender == "org.freedesktop.DBus",
      signal.argument(0)?.asString == BlueZNames.service
    {
      let owner = signal.argument(2)?.asString ?? ""
      lose(owner: owner.isEmpty ? nil : owner)
      return
    }
    if signal.sender == mirror.owner, signal.member == "PropertiesChanged",
      signal.argument(0)?.asString == BlueZNames.gattCharacteristic, let path = signal.path,
      let value = signal.argument(1)?.asProperties?["Value"]?.asBytes, let device = ObjectMirror.device(of: path)
    {
      receive(value, from: device)
    }
    follow(mirror.take(signal, order: order))
  }

  private func receive(_ call: DBusMessage) {
    guard call.sender == mirror.owner else {
      counters.count(.foreignCalls)
      return
    }
    switch call.member {
    case "WriteValue":
      guard let value = call.argument(0)?.asBytes, let options = call.argument(1)?.asProperties,
        let device = options["device"]?.asString
      else { return }
      if let mtu = options["mtu"]?.asInt { learn(mtu, of: device) }
      receive(value, from: device)
    case "Release":
      plan.refreshAdvertisement()
      reconcile()
    default: break
    }
  }

  func tick() {
    let now = now
    for device in peers.keys.sorted() { act(peers[device]?.negotiation.tick(now: now) ?? [], on: device) }
    for (number, one) in pending.sorted(by: { $0.key < $1.key }) where one.giveUpAt <= now {
      giveUp(number)
    }
    endOverdue(now: now)
    if ceiling.tick(open: openLinks, now: now) { keepCeiling() }
    if nextSightings <= now {
      nextSightings = now.advanced(by: BlueZLimits.sightingRepeat)
      if plan.isDiscovering { tellSightings() }
    }
    reconcile()
  }

  /// Compares what is with what is wanted, and begins what is missing.
  func reconcile() {
    let now = now
    let found = mirror.isComplete ? mirror.adapter(configuration.adapter, current: adapter) : nil
    let isNew = mirror.generation != seenGeneration
    seenGeneration = mirror.generation
    let isPowered = found.map { mirror.isPowered($0) } ?? false
    let isUsable = found.map { mirror.isUsable($0) } ?? false
    if let adapter, found != adapter, !isNew { leave(adapter) }
    if found != adapter || !isPowered {
      dropAll(found == adapter ? "the adapter was switched off" : "the adapter is gone")
    }
    let isOther = found != adapter
    adapter = found
    followCeiling()
    plan.observe(adapter: found, isUsable: isUsable, isPowered: isPowered, isNewOwner: isNew, now: now)
    duty.observe(links: openLinks, isFull: !ceiling.mayDial(open: openLinks), now: now)
    plan.isScanning = isScanning && duty.isListening(now: now)
    startDial(now: now)
    for action in plan.next(now: now) { jobs.offer(.plan(action)) }
    tellState(isPowered: isPowered, isUsable: isUsable)
    setAlarm(now: now)
    if isOther { meetConnected() }
  }

  private func tellState(isPowered: Bool, isUsable: Bool) {
    let new: TransportState
    if mirror.owner == nil {
      new = .unsupported
    } else if !mirror.isComplete {
      new = isDenied ? .unauthorized : .resetting
    } else if adapter == nil {
      note(.noAdapter(named: configuration.adapter))
      new = .unsupported
    } else if !isPowered {
      // Where we may switch it on, what came of that is told.
      if !configuration.mayPower { note(.switchedOff) }
      new = .poweredOff
    } else if !isUsable {
      new = .resetting
    } else if plan.isReady {
      if state.value != .poweredOn { lastNote = nil }
      new = .poweredOn
    } else {
      new = .resetting
    }
    become(new)
  }

  private func become(_ new: TransportState) { if state.value != new { state.set(new) } }

  private func setAlarm(now: MonotonicTime) {
    alarm.set(plan.deadline(now: now))
    alarm.set(dials.deadline(now: now).map { max($0, now.advanced(by: .milliseconds(1))) })
    alarm.set(pending.values.lazy.map(\.giveUpAt).min())
    alarm.set(peers.values.lazy.map(\.negotiation.deadline).min())
    if plan.isDiscovering { alarm.set(nextSightings) }
    if isScanning { alarm.set(duty.deadline(now: now)) }
  }

  /// Says something once, until something else is to be said.
  func note(_ notice: BlueZNotice) {
    guard notice != lastNote else { return }
    lastNote = notice
    context.note(notice.sentence)
  }

  // MARK: Wishes

  func advertise(_ advertisement: Advertisement?) async {
    let own = advertisement.map { NodeAdvertisement(hint: $0.hint, digest: $0.digest) }
    let isNew = shared.state.withLock { shared in
      defer { shared.advertisement = own ?? shared.advertisement }
      return own != nil && shared.advertisement != own
    }
    if isNew, plan.isAdvertising { plan.refreshAdvertisement() }
    plan.isAdvertising = own != nil
    reconcile()
  }

  func scan(_ isScanning: Bool) {
    self.isScanning = isScanning
    reconcile()
  }
}

extension BlueZHost {
  /// How much is kept in mind, for the search for leaks.
  struct Holdings: Sendable, Equatable {
    var mirrored: Int
    var peers: Int
    var waiting: Int
  }

  var holdings: Holdings {
    Holdings(
      mirrored: mirror.count, peers: peers.count,
      waiting: pending.count + dials.numbers.count + outgoing.count + jobs.count + endings.count + closing.count
        + drains.count + partings.count)
  }
}
