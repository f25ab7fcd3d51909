internal import CLinux
internal import Glibc
internal import Lifecycle
internal import Streams
internal import Transports

/// What the loop's thread holds. Confined to that thread.
final class LocalLoopState {
  private struct Dial {
    var machine: LocalDial
    var descriptor: Int32
    /// The name of the other end; of a dial that came in, once it has said it.
    var peer: String?
    var progress: (@Sendable (DialStep) -> Void)?
    var answer: Channel<Result<LocalLink, TransportError>>?
    var deadline: MonotonicTime
  }

  private struct Open {
    var link: LocalLink
    var descriptor: Int32
    var isAwaitingRoom = false
    /// Received and not taken by a slow reader; nothing more is read meanwhile.
    var stalled: [[UInt8]] = []
  }

  private struct Delayed {
    var due: MonotonicTime
    var link: LinkID
    var frame: [UInt8]
  }

  private enum Token {
    static let listener: UInt64 = 0
    static let wakeUp: UInt64 = 1
    static let watch: UInt64 = 2
    static let firstConnection: UInt64 = 16
  }

  private let loop: LocalLoop
  private let listener: Int32
  private let poller: Poller
  private let watch: Int32
  private var dials: [UInt64: Dial] = [:]
  private var open: [UInt64: Open] = [:]
  private var tokens: [LinkID: UInt64] = [:]
  private var nextToken = Token.firstConnection
  private var delayed: [Delayed] = []
  private var air = LocalAir()
  private var isScanning = false
  private var nextSighting = MonotonicTime.never
  private var isStopping = false
  private var places = [UInt8](repeating: 0, count: LocalTransportLimits.batch * LocalTransportLimits.messageBytes)
  private var sizes = [UInt32](repeating: 0, count: LocalTransportLimits.batch)

  init(loop: LocalLoop, listener: Int32, poller: consuming Poller, wakeUp: Int32) {
    self.loop = loop
    self.listener = listener
    self.poller = poller
    watch = loop.directory.watch()
    self.poller.add(listener, token: Token.listener, .reading)
    self.poller.add(wakeUp, token: Token.wakeUp, .reading)
    if watch >= 0 { self.poller.add(watch, token: Token.watch, .reading) }
    readFiles()
  }

  private var now: MonotonicTime { loop.context.time.now() }

  func run() {
    while !isStopping {
      guard let events = poller.wait(milliseconds: patience) else { break }
      for event in events {
        switch event.token {
        case Token.listener: accept()
        case Token.wakeUp: loop.takeCommands().forEach(perform)
        case Token.watch: directoryChanged()
        default: handle(event)
        }
      }
      passTime()
    }
    shutDown()
  }

  /// Milliseconds until something is due; -1 when nothing is.
  private var patience: Int32 {
    if open.values.contains(where: { !$0.stalled.isEmpty }) { return LocalTransportLimits.stallMilliseconds }
    var next = nextSighting
    for dial in dials.values { next = min(next, dial.deadline) }
    if let first = delayed.first { next = min(next, first.due) }
    guard next != .never else { return -1 }
    let now = now
    return next <= now ? 0 : Int32(clamping: next.milliseconds(since: now) + 1)
  }

  // MARK: Commands

  private func perform(_ command: LocalLoop.Command) {
    switch command {
    case .scan(let isOn):
      isScanning = isOn
      nextSighting = .never
      if isOn { lookAround() }
    case .dial(let peer, let progress, let answer): dial(peer, progress: progress, answer: answer)
    case .awaitRoom(let id):
      guard let token = tokens[id], var entry = open[token] else { return }
      entry.isAwaitingRoom = true
      open[token] = entry
      updateInterest(token)
    case .close(let id, let end): if let token = tokens[id] { close(token, end) }
    case .delay(let frame, let id, let due):
      guard delayed.count < LocalTransportLimits.delayedFrames else { return }
      // A frame never overtakes an earlier one of its link.
      let last = delayed.last { $0.link == id }?.due ?? .start
      let entry = Delayed(due: max(due, last), link: id, frame: frame)
      let place = delayed.lastIndex { $0.due <= entry.due }.map { $0 + 1 } ?? 0
      delayed.insert(entry, at: place)
    case .stop: isStopping = true
    }
  }

  private func passTime() {
    let now = now
    while let first = delayed.first, first.due <= now {
      delayed.removeFirst()
      if let token = tokens[first.link] { _ = open[token]?.link.write(first.frame) }
    }
    if nextSighting <= now { lookAround() }
    for (token, dial) in dials where dial.deadline <= now { fail(token, "no answer in time") }
    for (token, entry) in open where !entry.stalled.isEmpty { unstall(token) }
  }

  // MARK: Dials

  private func dial(
    _ peer: String, progress: @escaping @Sendable (DialStep) -> Void,
    answer: Channel<Result<LocalLink, TransportError>>
  ) {
    progress(.scan)
    guard LocalName.isValid(peer), air.isInReach(loop.directory.name, peer) else {
      answer.offer(.failure(.dialFailed(reached: .scan, reason: "out of reach")))
      return
    }
    guard open.count + dials.count < LocalTransportLimits.links else {
      answer.offer(.failure(.noFreeLink(limit: LocalTransportLimits.links)))
      return
    }
    guard let descriptor = loop.directory.connect(to: peer) else {
      answer.offer(.failure(.dialFailed(reached: .scan, reason: "nobody answers")))
      return
    }
    let (machine, first) = LocalDial.outgoing(from: loop.directory.name)
    let token = add(
      Dial(
        machine: machine, descriptor: descriptor, peer: peer, progress: progress, answer: answer,
        deadline: now.advanced(by: LocalTransportLimits.dialTimeout)))
    send(first, to: descriptor, token)
  }

  private func accept() {
    while true {
      let descriptor = clinux_accept(listener)
      guard descriptor >= 0 else { return }
      guard open.count + dials.count < LocalTransportLimits.links else {
        Glibc.close(descriptor)
        continue
      }
      _ = add(
        Dial(
          machine: .incoming(), descriptor: descriptor, peer: nil, progress: nil, answer: nil,
          deadline: now.advanced(by: LocalTransportLimits.dialTimeout)))
    }
  }

  private func add(_ dial: Dial) -> UInt64 {
    let token = nextToken
    nextToken += 1
    dials[token] = dial
    poller.add(dial.descriptor, token: token, .reading)
    return token
  }

  private func receiveDial(_ token: UInt64) {
    while let dial = dials[token] {
      // One at a time: what follows the last message of a dial is the link's.
      var message: [UInt8]?
      switch receive(dial.descriptor, limit: 1, { message = $0 }) {
      case .messages: break
      case .nothing: return
      case .ended:
        fail(token, "the peer hung up")
        return
      }
      guard let message, let decoded = LocalMessage(decoding: message[...]) else {
        fail(token, "the peer broke the order of the dial")
        return
      }
      advance(token, with: decoded)
    }
  }

  private func advance(_ token: UInt64, with message: LocalMessage) {
    guard var dial = dials[token] else { return }
    let (name, air) = (loop.directory.name, air)
    let actions = dial.machine.receive(message) { peer in
      air.isInReach(name, peer) ? nil : "out of reach"
    }
    dial.peer = dial.peer ?? dial.machine.peerName
    dials[token] = dial
    for action in actions {
      switch action {
      case .send(let answer): send(answer, to: dial.descriptor, token)
      case .reached(let step): dial.progress?(step)
      case .fail(let reason): fail(token, reason)
      case .ready: establish(token)
      }
    }
  }

  private func send(_ message: LocalMessage, to descriptor: Int32, _ token: UInt64) {
    let bytes = message.encoded
    let rest = Array(bytes.dropFirst())
    if unsafe clinux_send_marked(descriptor, bytes[0], rest, rest.count) != 0 { fail(token, "the peer hung up") }
  }

  private func establish(_ token: UInt64) {
    guard let dial = dials.removeValue(forKey: token), let peer = dial.peer else { return }
    let link = LocalLink(
      id: loop.context.nextLinkID(), role: dial.answer == nil ? .peripheral : .central, address: peer,
      descriptor: dial.descriptor, conditions: air.conditions(between: loop.directory.name, peer), loop: loop)
    open[token] = Open(link: link, descriptor: dial.descriptor)
    tokens[link.id] = token
    if let answer = dial.answer {
      answer.offer(.success(link))
    } else if loop.inbound.offer(link) != .accepted {
      close(token, .lost)
    }
  }

  private func fail(_ token: UInt64, _ reason: String) {
    guard let dial = dials.removeValue(forKey: token) else { return }
    poller.remove(dial.descriptor)
    Glibc.close(dial.descriptor)
    dial.answer?.offer(.failure(.dialFailed(reached: dial.machine.reached, reason: reason)))
  }

  // MARK: Links

  private func handle(_ event: Poller.Event) {
    if dials[event.token] != nil {
      receiveDial(event.token)
      return
    }
    guard open[event.token] != nil else { return }
    if event.isWritable, open[event.token]?.link.tellWritable() == true {
      open[event.token]?.isAwaitingRoom = false
      updateInterest(event.token)
    }
    if event.isReadable { receiveFrames(event.token) }
  }

  private func receiveFrames(_ token: UInt64) {
    guard let entry = open[token], entry.stalled.isEmpty else { return }
    var end: LinkEnd?
    let outcome = receive(entry.descriptor, limit: LocalTransportLimits.batch) { message in
      guard end == nil else { return }
      guard case .frame(let frame)? = LocalMessage(decoding: message[...]) else {
        end = .protocolViolation
        return
      }
      if self.open[token]?.stalled.isEmpty == false || !entry.link.deliver(frame) {
        self.open[token]?.stalled.append(frame)
      }
    }
    if case .ended = outcome { end = end ?? .closedByPeer }
    if let end {
      close(token, end)
    } else if open[token]?.stalled.isEmpty == false {
      updateInterest(token)
    }
  }

  private func unstall(_ token: UInt64) {
    while let entry = open[token], let frame = entry.stalled.first {
      guard entry.link.deliver(frame) else { return }
      open[token]?.stalled.removeFirst()
    }
    updateInterest(token)
  }

  private func updateInterest(_ token: UInt64) {
    guard let entry = open[token] else { return }
    var interest: Poller.Interest = entry.stalled.isEmpty ? .reading : []
    if entry.isAwaitingRoom { interest.insert(.writing) }
    poller.change(entry.descriptor, token: token, interest)
  }

  private func close(_ token: UInt64, _ end: LinkEnd) {
    guard let entry = open.removeValue(forKey: token) else { return }
    tokens[entry.link.id] = nil
    for frame in entry.stalled { _ = entry.link.deliver(frame) }
    poller.remove(entry.descriptor)
    entry.link.finish(end)
  }

  private enum Reception { case messages, nothing, ended }

  /// Reads at most `limit` messages without waiting.
  private func receive(_ descriptor: Int32, limit: Int, _ body: ([UInt8]) -> Void) -> Reception {
    let stride = LocalTransportLimits.messageBytes
    let count = unsafe clinux_receive_messages(descriptor, &places, stride, Int32(limit), &sizes)
    if count < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .ended }
    guard count > 0 else { return .ended }
    for index in 0..<Int(count) {
      let size = Int(sizes[index])
      // The end of a packet socket is a message of no bytes; no honest message is longer than its place.
      guard size > 0, size <= stride else { return .ended }
      body(Array(places[index * stride..<index * stride + size]))
    }
    return .messages
  }

  // MARK: The directory

  private func directoryChanged() {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while unsafe read(watch, &buffer, buffer.count) > 0 {}
    readFiles()
  }

  /// Reads what the air does now, tells the links, ends those out of reach, and hears who is there.
  private func readFiles() {
    if let bytes = loop.directory.read("air.ini") {
      if !air.read(air: bytes) { loop.context.note("air.ini is no INI file; the former one stays in force") }
    } else {
      _ = air.read(air: [])
    }
    let names = loop.directory.names(ending: ".place")
    air.places = air.places.filter { names.contains($0.key) }
    for name in names {
      if let bytes = loop.directory.read("\(name).place") { _ = air.read(place: bytes, of: name) }
    }
    let own = loop.directory.name
    for (token, entry) in open {
      let peer = entry.link.address.description
      entry.link.setConditions(air.conditions(between: own, peer))
      if !air.isInReach(own, peer) { close(token, .lost) }
    }
    if isScanning { lookAround() }
  }

  private func lookAround() {
    guard isScanning else { return }
    let own = loop.directory.name
    for name in loop.directory.names(ending: ".beacon") where name != own && air.isInReach(own, name) {
      guard let advertisement = loop.directory.read("\(name).beacon").flatMap(LocalDirectory.advertisement) else {
        continue
      }
      let address = TransportAddress(name)
      let sighting = Sighting(
        address: address, advertisement: advertisement, signalStrength: air.signalStrength(own, name))
      loop.sightings.offer(sighting, for: address)
    }
    nextSighting = now.advanced(by: LocalTransportLimits.sightingInterval)
  }

  private func shutDown() {
    for token in dials.keys { fail(token, "the transport stopped") }
    for token in open.keys { close(token, .transportStopped) }
    for command in loop.takeCommands() {
      if case .dial(_, _, let answer) = command { answer.offer(.failure(.notPoweredOn)) }
    }
    poller.remove(listener)
    Glibc.close(listener)
    if watch >= 0 { Glibc.close(watch) }
  }
}
