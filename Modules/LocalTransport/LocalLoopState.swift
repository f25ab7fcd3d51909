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
    var answer: LocalLoop.Answer?
    var deadline: MonotonicTime
  }

  struct Open {
    var link: LocalLink
    var descriptor: Int32
    var isAwaitingRoom = false
    /// Received and not taken by a slow reader; nothing more is read meanwhile.
    var stalled: [[UInt8]] = []
    /// The reader has no room for news either.
    var owesNews = false
    /// When the next delayed frame is due.
    var nextDue = MonotonicTime.never
    var interest: Poller.Interest = .reading

    var isWaitingForReader: Bool { owesNews || !stalled.isEmpty }
  }

  private enum Token {
    static let listener: UInt64 = 0
    static let wakeUp: UInt64 = 1
    static let watch: UInt64 = 2
    static let firstConnection: UInt64 = 16
  }

  let loop: LocalLoop
  private let listener: Int32
  private let poller: Poller
  let watch: Int32
  private var dials: [UInt64: Dial] = [:]
  var open: [UInt64: Open] = [:]
  private var tokens: [LinkID: UInt64] = [:]
  private var nextToken = Token.firstConnection
  var air = LocalAir()
  var isScanning = false
  var nextSighting = MonotonicTime.never
  private var isStopping = false
  private var places = [UInt8](repeating: 0, count: LocalTransportLimits.batch * LocalTransportLimits.messageBytes)
  private var sizes = [UInt32](repeating: 0, count: LocalTransportLimits.batch)

  init(loop: LocalLoop, listener: Int32, poller: consuming Poller, wakeUp: Int32) {
    self.loop = loop
    self.listener = listener
    self.poller = poller
    watch = loop.directory.watch()
    if watch < 0 { loop.context.note("the directory cannot be watched; changes of the air are not seen") }
    self.poller.add(listener, token: Token.listener, .reading)
    self.poller.add(wakeUp, token: Token.wakeUp, .reading)
    if watch >= 0 { self.poller.add(watch, token: Token.watch, .reading) }
    readFiles()
  }

  var now: MonotonicTime { loop.context.time.now() }

  /// Runs until `.stop`.
  ///
  /// - Returns: why it ended, if nobody asked it to.
  func run() -> LocalDirectory.Failure? {
    var failure: LocalDirectory.Failure?
    while !isStopping {
      guard let events = poller.wait(milliseconds: patience) else {
        failure = .systemCall("epoll_wait", code: errno)
        break
      }
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
    return failure
  }

  /// Milliseconds until something is due; -1 when nothing is.
  private var patience: Int32 {
    var next = nextSighting
    for entry in open.values {
      if entry.isWaitingForReader { return LocalTransportLimits.stallMilliseconds }
      next = min(next, entry.nextDue)
    }
    for dial in dials.values { next = min(next, dial.deadline) }
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
    case .abandon(let answer):
      if let token = dials.first(where: { $0.value.answer === answer })?.key { fail(token, "given up") }
    case .awaitRoom(let id):
      guard let token = tokens[id] else { return }
      open[token]?.isAwaitingRoom = true
      updateInterest(token)
    case .flush(let id): if let token = tokens[id] { flush(token) }
    case .close(let id): if let token = tokens[id] { close(token, .closedHere) }
    case .stop: isStopping = true
    }
  }

  private func passTime() {
    let now = now
    if nextSighting <= now { lookAround() }
    for (token, dial) in dials where dial.deadline <= now { fail(token, "no answer in time") }
    for (token, entry) in open {
      if entry.nextDue <= now { flush(token) }
      if entry.owesNews { tellNews(token) }
      if !entry.stalled.isEmpty { unstall(token) }
    }
  }

  // MARK: Dials

  private func dial(
    _ peer: String, progress: @escaping @Sendable (DialStep) -> Void,
    answer: LocalLoop.Answer
  ) {
    // Whoever dialled may have given up while the dial waited.
    guard !answer.isFinished else { return }
    progress(.scan)
    guard LocalName.isValid(peer), peer != loop.directory.name, air.isInReach(loop.directory.name, peer) else {
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
      case .ended, .broken:
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
      // Whoever dialled may have given up: nobody would ever close the link.
      if answer.offer(.success(link)) != .accepted { close(token, .closedHere) }
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
    if event.isWritable {
      open[event.token]?.isAwaitingRoom = false
      flush(event.token)
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
    if outcome == .ended { end = end ?? .closedByPeer }
    if outcome == .broken { end = .protocolViolation }
    if let end {
      close(token, end)
    } else if open[token]?.stalled.isEmpty == false {
      updateInterest(token)
    }
  }

  private func unstall(_ token: UInt64) {
    guard let entry = open[token] else { return }
    let taken = entry.stalled.firstIndex { !entry.link.deliver($0) } ?? entry.stalled.count
    open[token]?.stalled.removeFirst(taken)
    updateInterest(token)
  }

  /// Writes what is due; what the socket does not take is written when it has room.
  private func flush(_ token: UInt64) {
    guard let link = open[token]?.link else { return }
    let flushed = link.flush(now: now)
    open[token]?.nextDue = flushed.isFull ? .never : flushed.next ?? .never
    if flushed.isFull { open[token]?.isAwaitingRoom = true }
    updateInterest(token)
    tellNews(token)
  }

  func tellNews(_ token: UInt64) {
    guard let link = open[token]?.link else { return }
    open[token]?.owesNews = !link.tellNews()
  }

  private func updateInterest(_ token: UInt64) {
    guard let entry = open[token] else { return }
    var interest: Poller.Interest = entry.stalled.isEmpty ? .reading : []
    if entry.isAwaitingRoom { interest.insert(.writing) }
    guard interest != entry.interest else { return }
    open[token]?.interest = interest
    // A descriptor that is watched for nothing still wakes us, again and again, once the peer has hung up.
    if interest.isEmpty {
      poller.remove(entry.descriptor)
    } else if entry.interest.isEmpty {
      poller.add(entry.descriptor, token: token, interest)
    } else {
      poller.change(entry.descriptor, token: token, interest)
    }
  }

  func close(_ token: UInt64, _ end: LinkEnd) {
    guard let entry = open.removeValue(forKey: token) else { return }
    tokens[entry.link.id] = nil
    let taken = entry.stalled.firstIndex { !entry.link.deliver($0) } ?? entry.stalled.count
    entry.link.countDropped(entry.stalled.count - taken)
    if !entry.interest.isEmpty { poller.remove(entry.descriptor) }
    entry.link.finish(end)
  }

  private enum Reception { case messages, nothing, ended, broken }

  /// Reads at most `limit` messages without waiting.
  private func receive(_ descriptor: Int32, limit: Int, _ body: ([UInt8]) -> Void) -> Reception {
    let stride = LocalTransportLimits.messageBytes
    let count = unsafe clinux_receive_messages(descriptor, &places, stride, Int32(limit), &sizes)
    if count < 0 { return errno == EAGAIN || errno == EINTR ? .nothing : .ended }
    guard count > 0 else { return .ended }
    for index in 0..<Int(count) {
      let size = Int(sizes[index])
      // The end of a packet socket is a message of no bytes; no honest message is longer than its place.
      guard size > 0 else { return .ended }
      guard size <= stride else { return .broken }
      body(Array(places[index * stride..<index * stride + size]))
    }
    return .messages
  }

  private func shutDown() {
    for token in dials.keys { fail(token, "the transport stopped") }
    for token in open.keys { close(token, .transportStopped) }
    poller.remove(listener)
    Glibc.close(listener)
    if watch >= 0 { Glibc.close(watch) }
  }
}
