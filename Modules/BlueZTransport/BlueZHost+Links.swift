internal import DBusKit
internal import Streams
internal import Telemetry
internal import Transports

/// Devices, and the links to them.
extension BlueZHost {
  /// The mirror has changed.
  func follow(_ changes: [ObjectMirror.Change]) {
    guard !changes.isEmpty else { return }
    var needsPlan = false
    for change in changes {
      switch change {
      case .added(let path, BlueZNames.device):
        tellSighting(path)
        if mirror.isConnected(path) { connected(path) }
      case .changed(let path, BlueZNames.device, let names):
        if names.contains("Connected") {
          if mirror.isConnected(path) { connected(path) } else { disconnected(path) }
        }
        if names.contains("ServicesResolved") { resolve(path) }
        if names.contains("RSSI") || names.contains("ManufacturerData") || names.contains("UUIDs") {
          tellSighting(path)
        }
      case .removed(let path, BlueZNames.device): disconnected(path)
      case .added(let path, BlueZNames.gattCharacteristic), .removed(let path, BlueZNames.gattCharacteristic):
        resolve(path)
      case .changed(let path, BlueZNames.gattCharacteristic, let names):
        if names.contains("MTU") { resolve(path) }
      case .changed(_, BlueZNames.advertisingManager, let names):
        if names.contains("SupportedInstances"), plan.instancesChanged(now: now) { needsPlan = true }
      case .changed(_, BlueZNames.adapter, let names):
        needsPlan = needsPlan || names.contains("Powered") || names.contains("Discovering")
      case .added(_, let interface), .removed(_, let interface):
        needsPlan =
          needsPlan || [BlueZNames.adapter, BlueZNames.gattManager, BlueZNames.advertisingManager].contains(interface)
      default: break
      }
    }
    if needsPlan { reconcile() } else { setDeadlines() }
  }

  func endOverdue(now: MonotonicTime) {
    for device in drains.keys.sorted() { drain(device) }
    for (device, time) in partings where time <= now {
      partings[device] = nil
      close(device)
    }
    alarm.set(partings.values.min())
    alarm.set(drains.values.min())
    for (device, time) in endings.sorted(by: { $0.key < $1.key }) where time <= now {
      endings[device] = nil
      drop(device, .lost, EndReason.gone)
    }
    alarm.set(endings.values.min())
  }

  func setDeadlines() { alarm.set(peers.values.lazy.map(\.negotiation.deadline).min()) }

  // MARK: Sightings

  func tellSighting(_ device: String) {
    guard let adapter, device.hasPrefix(adapter + "/"), let seen = mirror.sighting(of: device), seen.strength != nil
    else { return }
    let address = TransportAddress(seen.address)
    sightings.offer(
      Sighting(
        address: address, advertisement: seen.hint.map { Advertisement(hint: $0, digest: seen.digest) },
        signalStrength: seen.strength), for: address)
  }

  func tellSightings() {
    guard let adapter else { return }
    for device in mirror.paths(with: BlueZNames.device, below: adapter + "/").prefix(BlueZLimits.devices) {
      tellSighting(device)
    }
  }

  // MARK: Radio connections

  func connected(_ device: String) {
    guard let adapter, device.hasPrefix(adapter + "/") else { return }
    if endings.removeValue(forKey: device) != nil { drop(device, .lost, EndReason.gone) }
    guard !closing.contains(device) else { return }
    let dial = currentDial(of: device)
    if peers[device] == nil {
      peers[device] = Peer(
        negotiation: LinkNegotiation(isDialler: dial != nil, token: token(), now: now), dial: dial)
      if dial == nil { plan.refreshAdvertisement() }
    }
    if let dial { reached(.connect, dial: dial) }
    resolveAll(device)
    reconcile()
  }

  /// Whether the power went with it is known only a moment later.
  private func disconnected(_ device: String) {
    let wasClosing = closing.remove(device) != nil
    partings[device] = nil
    act(peers[device]?.negotiation.part(now: now) ?? [], on: device)
    guard peers[device] != nil else {
      // A dial may wait for it.
      if wasClosing { reconcile() }
      return
    }
    endings[device] = now.advanced(by: BlueZLimits.endGrace)
    alarm.set(endings[device])
  }

  private func token() -> UInt32 { max(1, UInt32(truncatingIfNeeded: context.random())) }

  /// A characteristic came, changed or went.
  private func resolve(_ path: String) {
    guard let device = ObjectMirror.device(of: path), peers[device] != nil else { return }
    resolveAll(device)
  }

  private func resolveAll(_ device: String) {
    guard peers[device] != nil else { return }
    let characteristic = mirror.characteristic(below: device)
    let mtu = characteristic.flatMap { mirror.mtu(of: $0) }
    let actions = peers[device]!.negotiation.resolved(characteristic, mtu: mtu, now: now)
    followTarget(of: device)
    act(actions, on: device)
    updateFrameSize(device)
  }

  func learn(_ mtu: Int, of device: String) {
    guard peers[device] != nil else { return }
    peers[device]!.negotiation.learn(mtu)
    updateFrameSize(device)
  }

  private func updateFrameSize(_ device: String) {
    guard let peer = peers[device] else { return }
    peer.link?.setFrameSize(peer.negotiation.frameSize)
  }

  // MARK: Values

  func receive(_ value: [UInt8], from device: String) {
    if peers[device] == nil {
      // A write may come before the word that the device has connected: it is proof enough.
      guard let adapter, device.hasPrefix(adapter + "/"), mirror.properties(device, BlueZNames.device) != nil else {
        counters.count(.garbage)
        return
      }
      connected(device)
    }
    guard let peer = peers[device] else { return }
    act(peers[device]!.negotiation.received(value, hasRoom: peer.link?.hasRoom ?? true, now: now), on: device)
    guard let link = peers[device]?.link else { return }
    if link.isWaiting { flush(device) }
    if link.end != nil { drain(device) }
  }

  /// Carries out what a negotiation has decided.
  func act(_ actions: [LinkNegotiation.Action], on device: String) {
    for action in actions {
      switch action {
      case .step(let step): if let dial = peers[device]?.dial { reached(step, dial: dial) }
      case .subscribe(let characteristic):
        jobs.offer(.subscribe(device: device, characteristic: characteristic))
      case .say(let message): say(message, to: device)
      case .open(let role): open(role, to: device)
      case .deliver(let frame): if peers[device]?.link?.deliver(frame) == false { counters.count(.framesDropped) }
      case .silent: silent(device)
      case .refuse:
        counters.count(.garbageWriters)
        drop(device, .lost, EndReason.garbage)
        close(device)
      case .end(let end, let reason):
        let isOurs = peers[device].map { $0.dial == nil && ($0.negotiation.isDialler || $0.link != nil) } ?? false
        drop(device, end, reason)
        // A radio connection that outlived its link is of no use to anybody.
        if isOurs, end == .lost { close(device) }
      case .restart(let hello):
        drop(device, .lost, EndReason.anew)
        receive(hello, from: device)
      }
    }
    noteFrames(of: device)
    if !actions.isEmpty { setDeadlines() }
  }

  /// Counts what has become of frames since this was asked last.
  private func noteFrames(of device: String) {
    guard let negotiation = peers[device]?.negotiation else { return }
    count(negotiation, since: peers[device]!.counted)
    peers[device]!.counted = (
      negotiation.lostFrames, negotiation.reorderedFrames, negotiation.garbage &+ negotiation.early
    )
  }

  private func count(
    _ negotiation: LinkNegotiation, since counted: (lost: UInt64, reordered: UInt64, garbage: UInt64)
  ) {
    counters.count(.garbage, by: negotiation.garbage &+ negotiation.early &- counted.garbage)
    counters.count(.framesLost, by: negotiation.lostFrames - counted.lost)
    counters.count(.framesReordered, by: negotiation.reorderedFrames - counted.reordered)
  }

  /// A device that is no node, a headset say, is left alone. A node that says nothing is a connection without its ends.
  private func silent(_ device: String) {
    guard mirror.isOurs(device) else {
      counters.count(.foreignDevices)
      return
    }
    partings[device] = now.advanced(by: BlueZLimits.staleAfter)
    alarm.set(partings[device])
  }

  // MARK: Links

  private func open(_ role: LinkRole, to device: String) {
    guard let peer = peers[device], peer.link == nil, let address = mirror.address(of: device) else { return }
    let link = BlueZLink(
      id: context.nextLinkID(), role: role, address: address, device: device, frameSize: peer.negotiation.frameSize,
      wake: { [kicks] link in kicks.offer(link, for: link.id) })
    peers[device]!.link = link
    partings[device] = nil
    keepFarewell(to: device)
    if ceiling.opened(open: openLinks) { keepCeiling() }
    if let dial = peer.dial, let waiting = pending.removeValue(forKey: dial) {
      _ = dials.remove(dial)
      peers[device]!.dial = nil
      if waiting.answer.offer(.success(link)) != .accepted { link.close() }
      plan.isDialling = dials.current != nil
      reconcile()
      return
    }
    for dial in dials.numbers(of: address) {
      fail(dial, .dialFailed(reached: .scan, reason: "the peer has dialled us"), isCounted: false)
    }
    if inbound.offer(link) != .accepted { link.close() }
  }

  /// Another adapter, another controller: what was learned of this one is looked up.
  func followCeiling() {
    guard let address = adapter.flatMap({ mirror.value($0, BlueZNames.adapter, "Address")?.asString }),
      address != ceilingAdapter
    else { return }
    ceilingAdapter = address
    ceiling = LinkCeiling(now: now)
    jobs.offer(.recallCeiling(adapter: address))
  }

  func keepCeiling() {
    if let ceilingAdapter { jobs.offer(.keepCeiling(adapter: ceilingAdapter, ceiling.kept)) }
  }

  static func ceilingKey(_ address: String) -> String { "ceiling/\(address)" }

  var openLinks: Int { peers.values.count { $0.link != nil } }

  /// A link has something to send, or was closed by its owner.
  func serve(_ link: BlueZLink) {
    let device = link.device
    guard peers[device]?.link === link else { return }
    flush(device)
    if link.end != nil { drain(device) }
  }

  /// What was sent before a link was closed still goes, as the peer grants room for it, but not for long.
  private func drain(_ device: String) {
    guard let link = peers[device]?.link else { return }
    if link.isWaiting, drains[device] == nil {
      drains[device] = now.advanced(by: BlueZLimits.drainTime)
      alarm.set(drains[device])
    }
    guard !link.isWaiting || drains[device].map({ $0 <= now }) == true else { return }
    drains[device] = nil
    say(.bye, to: device)
    // Whoever has dialled hangs up: a second hang-up, a moment later, could hit the next connection.
    if peers[device]?.negotiation.isDialler == true {
      close(device)
    } else if mirror.isConnected(device) {
      closing.insert(device)
      partings[device] = now.advanced(by: BlueZLimits.drainTime)
      alarm.set(partings[device])
    }
    drop(device, .closedHere, "closed here")
  }

  /// Ends the radio connection, if there is one, after what was said before on it. BlueZ takes two seconds for it. The word
  /// that it has ended is the only thing that brings the device back, so of one that has ended already none is waited for.
  func close(_ device: String) {
    guard mirror.isConnected(device) else { return }
    closing.insert(device)
    if outgoing.offer(.call(BlueZNames.service, device, BlueZNames.device, "Disconnect")) != .accepted {
      counters.count(.discardedWrites)
    }
  }

  func flush(_ device: String) {
    guard let link = peers[device]?.link else { return }
    let now = now
    while peers[device]!.negotiation.maySend, let frame = link.takeFrame() {
      say(peers[device]!.negotiation.message(carrying: frame, now: now), to: device)
    }
    setDeadlines()
  }

  /// The connection to a device is over, or of no use.
  func drop(_ device: String, _ end: LinkEnd, _ reason: String) {
    guard let peer = peers.removeValue(forKey: device) else { return }
    if peer.link != nil, end != .closedHere, end != .transportStopped {
      context.note(BlueZNotice.linkEnded(address: mirror.address(of: device) ?? device, reason: reason).sentence)
    }
    endings[device] = nil
    drains[device] = nil
    shared.state.withLock { $0.links[device] = nil }
    count(peer.negotiation, since: peer.counted)
    peer.link?.finish(end)
    if let dial = peer.dial, pending[dial]?.isAdopted == true, end == .lost, reason == EndReason.gone {
      // Only what was left of another link has ended.
      pending[dial]!.isAdopted = false
      pending[dial]!.isConnecting = false
      pending[dial]!.giveUpAt = now.advanced(by: BlueZLimits.connectDeadline)
    } else if let dial = peer.dial {
      let reached = pending[dial]?.reached ?? .scan
      fail(dial, .dialFailed(reached: reached, reason: reason))
      if reached == .connect, end == .lost, let adapter, mirror.isConnected(device), !mirror.isBonded(device) {
        // What BlueZ has in its cache of the peer may be out of date, and goes with the connection.
        jobs.offer(.remove(device: device, adapter: adapter))
      } else {
        close(device)
      }
    }
    if end == .closedByPeer, peer.negotiation.isDialler { close(device) }
    if peer.link == nil, peer.dial == nil { return }
    reconcile()
  }

  func dropAll(_ reason: String) {
    endings = [:]
    drains = [:]
    partings = [:]
    closing = []
    shared.state.withLock { $0.links = [:] }
    for device in peers.keys.sorted() {
      let peer = peers.removeValue(forKey: device)
      if let peer { count(peer.negotiation, since: peer.counted) }
      peer?.link?.finish(.transportStopped)
    }
    for number in dials.numbers {
      fail(number, .dialFailed(reached: pending[number]?.reached ?? .scan, reason: reason))
    }
  }
}
