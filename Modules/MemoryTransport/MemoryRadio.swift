package import Streams
package import Transports

/// A transport inside one process, over a `MemoryMedium`. Its addresses are the names of the nodes.
package final class MemoryRadio: Transport {
  private struct State: Sendable {
    var advertisement: Advertisement?
    var isScanning = false
    var links: [LinkID: MemoryLink] = [:]
    var isRunning = false
    var isPowered = true
    var arrivals: [Arrival] = []
    var nextSighting = MonotonicTime.never
  }

  struct Arrival: Sendable {
    var time: MonotonicTime
    var link: MemoryLink
    var frame: [UInt8]
  }

  package let properties: TransportProperties
  package let state = Latest(TransportState.poweredOff)
  package let sightings = Hints<TransportAddress, Sighting>(capacity: TransportsLimits.waitingSightings)
  package let inbound = Channel<any TransportLink>(capacity: TransportsLimits.waitingInbound)
  package let name: String

  let medium: MemoryMedium
  private let nextLinkID: @Sendable () -> LinkID
  private let inner = Protected(State())
  private let alarm: Alarm

  init(name: String, linkLimit: Int, medium: MemoryMedium, nextLinkID: @escaping @Sendable () -> LinkID) {
    self.name = name
    self.medium = medium
    self.nextLinkID = nextLinkID
    alarm = Alarm(time: medium.time)
    properties = TransportProperties(
      scheme: "memory", name: "memory", bytesPerSecond: MemoryTransportLimits.bytesPerSecond, linkLimit: linkLimit)
  }

  package func run() async throws {
    inner.withLock { $0.isRunning = true }
    publishState()
    await alarm.run { self.tick() }
    inner.withLock { state in
      state.isRunning = false
      state.advertisement = nil
      state.isScanning = false
    }
    closeAll(end: .transportStopped)
    publishState()
  }

  /// Switches the radio off or on, as a person would.
  package func setPower(_ isOn: Bool) {
    inner.withLock { $0.isPowered = isOn }
    if !isOn { closeAll(end: .transportStopped) }
    publishState()
    if isOn { lookAround() }
  }

  private func publishState() {
    let isOn = inner.withLock { $0.isRunning && $0.isPowered }
    let new: TransportState = isOn ? .poweredOn : .poweredOff
    if state.value != new { state.set(new) }
  }

  private func requirePower() throws(TransportError) {
    guard state.value == .poweredOn else { throw .notPoweredOn }
  }

  package func advertise(_ advertisement: Advertisement?) async throws(TransportError) {
    try requirePower()
    inner.withLock { $0.advertisement = advertisement }
    if advertisement != nil { medium.neighbours(of: name).forEach { $0.hear(self) } }
  }

  package func scan(_ isScanning: Bool) async throws(TransportError) {
    try requirePower()
    inner.withLock { $0.isScanning = isScanning }
    if isScanning { lookAround() }
  }

  package func connect(
    to address: TransportAddress, progress: @escaping @Sendable (DialStep) -> Void
  ) async throws(TransportError) -> any TransportLink {
    try requirePower()
    progress(.scan)
    await medium.dialGate(name, address.description)
    guard let peer = medium.node(address.description), medium.isInReach(name, address.description), peer.isConnectable
    else { throw .dialFailed(reached: .scan, reason: "out of reach") }
    for step in [DialStep.connect, .discoverService, .discoverCharacteristic] { progress(step) }
    guard !Task.isCancelled else { throw .cancelled }
    let ours = MemoryLink(id: nextLinkID(), role: .central, local: self, remote: peer)
    let theirs = MemoryLink(id: peer.nextLinkID(), role: .peripheral, local: peer, remote: self)
    ours.join(theirs)
    try register(ours)
    do {
      try peer.register(theirs)
    } catch {
      forget(ours.id)
      throw .dialFailed(reached: .discoverCharacteristic, reason: "the peer has no free link")
    }
    guard peer.inbound.offer(theirs) == .accepted else {
      theirs.finish(.lost)
      ours.finish(.lost)
      throw .dialFailed(reached: .discoverCharacteristic, reason: "the peer is busy")
    }
    progress(.subscribe)
    return ours
  }

  private var isConnectable: Bool {
    state.value == .poweredOn && inner.withLock { $0.advertisement != nil }
  }

  private func register(_ link: MemoryLink) throws(TransportError) {
    let limit = properties.linkLimit
    let isIn = inner.withLock { state in
      guard state.links.count < limit else { return false }
      state.links[link.id] = link
      return true
    }
    guard isIn else { throw .noFreeLink(limit: limit) }
  }

  func forget(_ id: LinkID) { inner.withLock { _ = $0.links.removeValue(forKey: id) } }

  func closeLinks(to other: String, end: LinkEnd) {
    let links = inner.withLock { $0.links.values.filter { $0.address.description == other }.sorted { $0.id < $1.id } }
    links.forEach { $0.finishBoth(end) }
  }

  private func closeAll(end: LinkEnd) {
    let links = inner.withLock { $0.links.values.sorted { $0.id < $1.id } }
    for link in links {
      // Once it has finished it knows its other end no more.
      let other = link.other
      link.finish(end)
      other?.finish(.lost)
    }
  }

  func conditionsChanged() {
    let links = inner.withLock { $0.links.values.sorted { $0.id < $1.id } }
    links.forEach { $0.refreshFrameSize() }
  }

  /// Puts a frame on its way to one of our links.
  func schedule(_ frame: [UInt8], to link: MemoryLink, after delay: Duration) {
    let time = medium.time.now().advanced(by: delay)
    inner.withLock { state in
      let last = state.arrivals.last { $0.link === link }?.time ?? .start
      let arrival = Arrival(time: max(time, last), link: link, frame: frame)
      let index = state.arrivals.lastIndex { $0.time <= arrival.time }.map { $0 + 1 } ?? 0
      state.arrivals.insert(arrival, at: index)
    }
    alarm.set(time)
  }

  private func tick() {
    let now = medium.time.now()
    let (due, next, isSightingDue) = inner.withLock { state -> ([Arrival], MonotonicTime?, Bool) in
      let count = state.arrivals.firstIndex { $0.time > now } ?? state.arrivals.count
      let due = Array(state.arrivals.prefix(count))
      state.arrivals.removeFirst(count)
      return (due, state.arrivals.first?.time, state.isScanning && state.nextSighting <= now)
    }
    for arrival in due { arrival.link.deliver(arrival.frame) }
    alarm.set(next)
    if isSightingDue { lookAround() } else { alarm.set(inner.withLock { $0.isScanning ? $0.nextSighting : nil }) }
  }

  /// Hears everybody in reach once, and again after a while.
  func lookAround() {
    guard state.value == .poweredOn, inner.withLock({ $0.isScanning }) else { return }
    for neighbour in medium.neighbours(of: name) { hear(neighbour) }
    let next = medium.time.now().advanced(by: MemoryTransportLimits.sightingInterval)
    inner.withLock { $0.nextSighting = next }
    alarm.set(next)
  }

  private func hear(_ other: MemoryRadio) {
    guard state.value == .poweredOn, other.state.value == .poweredOn, inner.withLock({ $0.isScanning }) else { return }
    guard let advertisement = other.inner.withLock({ $0.advertisement }) else { return }
    let address = TransportAddress(other.name)
    sightings.offer(
      Sighting(address: address, advertisement: advertisement, signalStrength: -60), for: address)
  }
}
