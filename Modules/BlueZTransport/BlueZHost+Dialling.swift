internal import DBusKit
internal import Streams
internal import Telemetry
internal import Transports

/// Dials, and everything else that BlueZ is asked to do and answers.
extension BlueZHost {
  func connect(
    to address: String, progress: @escaping @Sendable (DialStep) -> Void
  ) async throws(TransportError) -> BlueZLink {
    let answer = Answer(capacity: 1)
    let number = try begin(address, answer, progress)
    if let result = await answer.next() { return try result.get() }
    // Given up by whoever asked.
    answer.finish()
    if case .success(let link) = answer.poll() { link.close() }
    if pending[number] != nil { giveUp(number, .cancelled) }
    throw .cancelled
  }

  private func begin(
    _ address: String, _ answer: Answer, _ progress: @escaping @Sendable (DialStep) -> Void
  ) throws(TransportError) -> UInt64 {
    guard let adapter, plan.isReady else { throw .notPoweredOn }
    guard ceiling.mayDial(open: openLinks) else { throw .noFreeLink(limit: ceiling.links) }
    guard let device = mirror.device(address, on: adapter), mirror.isOurs(device) else {
      throw .dialFailed(reached: .advertise, reason: "it is not in the air any more")
    }
    guard peers[device]?.link == nil else { throw .dialFailed(reached: .scan, reason: "there is a link already") }
    let spread = Double(context.random() >> 11) / Double(1 << 53)
    let own = mirror.value(adapter, BlueZNames.adapter, "Address")?.asString ?? ""
    guard
      let number = dials.add(
        address, ownAddress: own, ownHint: shared.state.withLock { $0.advertisement?.hint },
        peerHint: mirror.sighting(of: device)?.hint,
        spread: spread, now: now)
    else { throw .failed(reason: "too many dials wait already") }
    progress(.advertise)
    progress(.scan)
    pending[number] = Pending(answer: answer, progress: progress, reached: .scan, giveUpAt: .never)
    reconcile()
    return number
  }

  /// Begins the next dial whose time has come, once discovery has stopped.
  func startDial(now: MonotonicTime) {
    if dials.current == nil, let dial = dials.next(now: now) {
      guard pending[dial.number] != nil else {
        _ = dials.remove(dial.number)
        return
      }
      pending[dial.number]!.giveUpAt = now.advanced(by: BlueZLimits.connectDeadline)
    }
    plan.isDialling = dials.current != nil
    guard let dial = dials.current, pending[dial.number]?.isConnecting == false, plan.isQuiet, plan.isReady,
      let adapter
    else { return }
    guard let device = mirror.device(dial.address, on: adapter) else {
      fail(dial.number, .dialFailed(reached: .advertise, reason: "it is not in the air any more"))
      return
    }
    // The end of a former connection that we have asked for would be the end of this one too.
    guard !closing.contains(device) else { return }
    pending[dial.number]!.isConnecting = true
    pending[dial.number]!.openLinks = openLinks
    if mirror.isConnected(device) {
      // A connection of an earlier run, of another program, or one that has just come in.
      if peers[device]?.negotiation.hasSpoken != true { peers[device] = nil }
      pending[dial.number]!.isAdopted = true
      connected(device)
      return
    }
    jobs.offer(.connect(device: device, dial: dial.number))
  }

  func currentDial(of device: String) -> UInt64? {
    guard let dial = dials.current, pending[dial.number]?.isConnecting == true, let adapter,
      mirror.device(dial.address, on: adapter) == device
    else { return nil }
    return dial.number
  }

  func reached(_ step: DialStep, dial: UInt64) {
    guard let one = pending[dial], step > one.reached else { return }
    pending[dial]!.reached = step
    // From here on the negotiation has deadlines of its own.
    pending[dial]!.giveUpAt = .never
    one.progress(step)
  }

  /// - Parameter isCounted: false where the peer is reached in another way.
  func fail(_ number: UInt64, _ error: TransportError, isCounted: Bool = true) {
    if isCounted, pending[number] != nil, case .dialFailed = error { counters.count(.failedDials) }
    _ = dials.remove(number)
    let one = pending.removeValue(forKey: number)
    for device in peers.keys where peers[device]?.dial == number { peers[device]!.dial = nil }
    plan.isDialling = dials.current != nil
    one?.answer.offer(.failure(error))
    one?.answer.finish()
  }

  /// A dial takes too long, or nobody wants it any more: a pending connect is called off.
  func giveUp(_ number: UInt64, _ error: TransportError? = nil) {
    let address = dials.current?.number == number ? dials.current?.address : nil
    let reached = pending[number]?.reached ?? .scan
    let device = adapter.flatMap { adapter in address.flatMap { mirror.device($0, on: adapter) } }
    if error == nil, let open = pending[number]?.openLinks, ceiling.failed(open: open, isLimit: false, now: now) {
      keepCeiling()
      note(.ceiling(ceiling.links))
    }
    fail(number, error ?? .dialFailed(reached: reached, reason: "no connection within 20 s"))
    if let device, peers[device]?.link == nil {
      peers[device] = nil
      if mirror.isConnected(device) { closing.insert(device) }
      // A pending connect is called off by it.
      jobs.offer(.disconnect(device: device))
    }
    reconcile()
  }

  // MARK: Jobs

  func perform(_ job: Job, on bus: DBusConnection) async {
    let generation = mirror.generation
    func call(
      _ path: String, _ interface: String, _ member: String, _ arguments: [DBusValue] = [],
      timeout: Duration = BlueZLimits.callTimeout
    ) async -> Result<DBusReply, DBusError> {
      do throws(DBusError) {
        return .success(
          try await bus.call(.call(BlueZNames.service, path, interface, member, arguments), timeout: timeout))
      } catch { return .failure(error) }
    }
    switch job {
    case .snapshot(let asked, let owner):
      let result = await call("/", BlueZNames.objectManager, "GetManagedObjects")
      guard mirror.generation == asked, mirror.owner == owner else { return }
      if case .success(let reply) = result, let objects = reply.arguments.first {
        isDenied = false
        follow(mirror.take(snapshot: objects, order: reply.order))
        if mirror.isBehind { askForEverything() }
        // What has gone while nobody looked.
        closing = closing.filter { mirror.isConnected($0) }
        partings = partings.filter { mirror.isConnected($0.key) }
        for device in peers.keys.sorted() where !mirror.isConnected(device) {
          drop(device, .lost, EndReason.gone)
        }
        reconcile()
      } else if case .failure(let error) = result {
        isDenied = error.isDenial
        note(isDenied ? .notAllowed : .noAnswer(reason: error.sentence))
        reconcile()
        // A policy is changed by a person, a daemon that hangs comes to itself.
        try? await context.time.sleep(now.advanced(by: isDenied ? BlueZLimits.lastRetry : BlueZLimits.firstRetry))
        if mirror.generation == asked { jobs.offer(.snapshot(generation: asked, owner: owner)) }
      }
    case .plan(let action): await perform(action, generation, call)
    case .connect(let device, let dial):
      let asked = now
      let result = await call(device, BlueZNames.device, "Connect", timeout: BlueZLimits.connectReply)
      guard mirror.generation == generation, case .failure(let error) = result, pending[dial]?.reached == .scan else {
        return
      }
      let meaning = ConnectFailure(error)
      guard meaning != .connected, !mirror.isConnected(device) else { return }
      if ceiling.failed(open: pending[dial]?.openLinks ?? openLinks, isLimit: meaning == .limit, now: now) {
        keepCeiling()
        note(.ceiling(ceiling.links))
      }
      fail(dial, .dialFailed(reached: .scan, reason: "\(error.sentence) after \(now.milliseconds(since: asked)) ms"))
      if meaning == .wrongBearer, let adapter, !mirror.isBonded(device) {
        // The classic bearer was tried: forget what BlueZ believes of it.
        jobs.offer(.remove(device: device, adapter: adapter))
      }
      reconcile()
    case .recallCeiling(let address):
      let kept = await context.memory.recall(Self.ceilingKey(address))
      // What was learned meanwhile is newer.
      if ceilingAdapter == address, ceiling.links == BlueZLimits.firstCeiling,
        let kept = kept.flatMap({ LinkCeiling(kept: $0, now: now) })
      {
        ceiling = kept
      }
    case .keepCeiling(let address, let kept): await context.memory.keep(Self.ceilingKey(address), kept)
    case .disconnect(let device): _ = await call(device, BlueZNames.device, "Disconnect")
    case .remove(let device, let adapter):
      _ = await call(adapter, BlueZNames.adapter, "RemoveDevice", [.objectPath(device)])
    case .subscribe(let device, let characteristic):
      let result = await call(characteristic, BlueZNames.gattCharacteristic, "StartNotify")
      guard mirror.generation == generation, peers[device]?.negotiation.target == characteristic else { return }
      if case .failure(let error) = result, !error.isInProgress {
        act(peers[device]!.negotiation.end(.lost, "no subscription: \(error.sentence)"), on: device)
        return
      }
      act(peers[device]!.negotiation.subscribed(now: now), on: device)
    case .acquire(let device, let characteristic):
      let result = await call(
        characteristic, BlueZNames.gattCharacteristic, "AcquireWrite", [.properties([:])])
      guard mirror.generation == generation else { return }
      acquired(try? result.get(), of: characteristic, at: device)
    }
  }

  private func perform(
    _ action: AdapterPlan.Action, _ generation: Int,
    _ call: (String, String, String, [DBusValue], Duration) async -> Result<DBusReply, DBusError>
  ) async {
    let result: Result<DBusReply, DBusError>
    let timeout = BlueZLimits.callTimeout
    switch action {
    case .power(let adapter):
      result = await call(
        adapter, BlueZNames.properties, "Set",
        [.string(BlueZNames.adapter), .string("Powered"), .variant(.boolean(true))], timeout)
    case .powerOff(let adapter):
      result = await call(
        adapter, BlueZNames.properties, "Set",
        [.string(BlueZNames.adapter), .string("Powered"), .variant(.boolean(false))], timeout)
    case .registerApplication(let adapter):
      result = await call(
        adapter, BlueZNames.gattManager, "RegisterApplication",
        [.objectPath(BlueZNames.applicationPath), .properties([:])], timeout)
    case .registerAdvertisement(let adapter, let isBare):
      shared.state.withLock { $0.isBare = isBare }
      result = await call(
        adapter, BlueZNames.advertisingManager, "RegisterAdvertisement",
        [.objectPath(BlueZNames.advertisementPath), .properties([:])], timeout)
    case .unregisterAdvertisement(let adapter):
      result = await call(
        adapter, BlueZNames.advertisingManager, "UnregisterAdvertisement",
        [.objectPath(BlueZNames.advertisementPath)], timeout)
    case .startDiscovery(let adapter):
      _ = await call(
        adapter, BlueZNames.adapter, "SetDiscoveryFilter",
        [
          .properties([
            "UUIDs": .strings([BlueZNames.serviceUUID]), "Transport": .string("le"), "DuplicateData": .boolean(true),
          ])
        ], timeout)
      result = await call(adapter, BlueZNames.adapter, "StartDiscovery", [], timeout)
    case .stopDiscovery(let adapter):
      result = await call(adapter, BlueZNames.adapter, "StopDiscovery", [], timeout)
    }
    guard mirror.generation == generation else { return }
    var outcome = AdapterPlan.Outcome.done
    if case .failure(let error) = result {
      outcome = error.outcome
      // In progress may be our own session, or an operation that will never end: the adapter knows.
      if case .startDiscovery(let adapter) = action, outcome == .already,
        mirror.value(adapter, BlueZNames.adapter, "Discovering")?.asBool != true
      {
        outcome = .refused
      }
      if case .registerAdvertisement = action, error.isNotPermitted { outcome = .exhausted }
      count(action, outcome)
      if outcome != .already { note(.refused(action, reason: error.sentence)) }
    }
    plan.completed(action, outcome, now: now)
    reconcile()
  }

  private func count(_ action: AdapterPlan.Action, _ outcome: AdapterPlan.Outcome) {
    guard outcome == .refused || outcome == .forbidden else { return }
    switch action {
    case .registerAdvertisement: counters.count(.refusedAdvertisements)
    case .startDiscovery: counters.count(.refusedDiscoveries)
    default: break
    }
  }
}
