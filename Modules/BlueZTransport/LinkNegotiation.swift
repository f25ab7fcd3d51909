package import Streams
package import Transports

/// From a radio connection to a link, and what the values on it mean, for one device.
///
/// Whoever has dialled waits for our characteristic below the device, subscribes, and says hello; the other answers.
/// Both then write into each other's characteristic over the one connection. Where the other's server cannot be seen,
/// what is for it is notified, with its token, because a notification goes to every subscriber. When both have dialled
/// the smaller token counts as the dialler. A hello with another token is another run of the peer: the link ends and
/// a new one begins. Pure.
package struct LinkNegotiation: Sendable {
  package enum Action: Sendable, Hashable {
    case step(DialStep)
    /// Subscribe to this characteristic.
    case subscribe(String)
    case say(LinkMessage)
    /// The link is there.
    case open(LinkRole)
    case deliver([UInt8])
    /// The link, or the dial, has ended.
    case end(LinkEnd, reason: String)
    /// The peer has begun anew, with this hello, over the same connection: the link has ended and another begins.
    case restart([UInt8])
    /// It has connected and says nothing: a device that is none of ours, or not yet.
    case silent
    /// It writes what means nothing, again and again: it is to be sent away.
    case refuse
  }

  private enum Phase: Sendable, Hashable { case resolving, subscribing, greeting, open, ended }

  package let isDialler: Bool
  private let token: UInt32
  private var phase = Phase.resolving
  private var characteristic: String?
  private var heard: LinkMessage.Hello?
  /// As our own side sees it; nil where this version of BlueZ does not say.
  private var mtu: Int?
  private var window = CreditWindow()
  private var deadlineOfPhase: MonotonicTime
  private var helloAt = MonotonicTime.never
  private var answerBy = MonotonicTime.never
  private var silentAt: MonotonicTime
  /// When a quiet peer is asked for a sign of life, and how often it gave none.
  private var signAt = MonotonicTime.never
  private var missedSigns = 0
  /// When a peer that has said goodbye is taken to have said everything.
  private var goneAt = MonotonicTime.never
  /// Values that were no message, or a hello of nobody.
  package private(set) var garbage: UInt64 = 0
  /// Frames that came before the link was open on this side.
  package private(set) var early: UInt64 = 0

  /// - Parameter token: random, not 0.
  package init(isDialler: Bool, token: UInt32, now: MonotonicTime) {
    self.isDialler = isDialler
    self.token = token
    deadlineOfPhase = isDialler ? now.advanced(by: BlueZLimits.resolveDeadline) : .never
    silentAt = isDialler ? .never : now.advanced(by: BlueZLimits.silentAfter)
  }

  package var isOpen: Bool { phase == .open }
  package var hasSpoken: Bool { heard != nil }
  /// Where to write; nil when what we say has to be notified, with `peerToken`.
  package var target: String? { characteristic }
  package var peerToken: UInt32 { heard?.token ?? 0 }
  package var lostFrames: UInt64 { window.lostFrames }
  package var reorderedFrames: UInt64 { window.reorderedFrames }

  /// The largest frame that fits a value: less kind and sequence, and the tag of what is notified.
  package var frameSize: Int {
    let value = min(knownMTU - BlueZLimits.valueMargin, BlueZLimits.valueBytes)
    return max(0, value - BlueZLimits.dataHead - (characteristic == nil ? BlueZLimits.tagHead : 0))
  }

  private var knownMTU: Int { mtu ?? heard.map { Int($0.mtu) } ?? BlueZLimits.smallestMTU }

  // MARK: The radio

  /// Our characteristic below the device came, changed or went; with the MTU where it is known.
  package mutating func resolved(_ path: String?, mtu: Int?, now: MonotonicTime) -> [Action] {
    if let mtu { learn(mtu) }
    guard path != characteristic else { return [] }
    characteristic = path
    guard let path else {
      // Its program has ended, or registers anew: it gets a moment.
      if phase == .open { deadlineOfPhase = now.advanced(by: BlueZLimits.serviceGrace) }
      return []
    }
    if phase == .open {
      // Another path: who is behind it says so, and another token ends the link.
      deadlineOfPhase = .never
      return (isDialler ? [.subscribe(path)] : []) + [.say(hello)]
    }
    if phase == .resolving, isDialler {
      phase = .subscribing
      return [.step(.discoverService), .step(.discoverCharacteristic), .subscribe(path)]
    }
    // Another path after the peer's database changed: the subscription went with the old one.
    if phase == .greeting, isDialler { return [.subscribe(path)] }
    if !isDialler, heard != nil, phase == .resolving { return answer(now: now) }
    return []
  }

  package mutating func learn(_ mtu: Int) {
    self.mtu = max(BlueZLimits.smallestMTU, min(mtu, BlueZLimits.largestMTU))
  }

  package mutating func subscribed(now: MonotonicTime) -> [Action] {
    guard phase == .subscribing else { return [] }
    phase = .greeting
    deadlineOfPhase = now.advanced(by: BlueZLimits.helloDeadline)
    return [.step(.subscribe)] + greet(now: now)
  }

  private mutating func greet(now: MonotonicTime) -> [Action] {
    helloAt = now.advanced(by: BlueZLimits.helloRepeat)
    if heard != nil { return [.say(hello)] + open(now: now) }
    return [.say(hello)]
  }

  private var hello: LinkMessage {
    .hello(
      LinkMessage.Hello(isDialler: isDialler, mtu: UInt16(clamping: knownMTU), token: token, heard: heard?.token ?? 0))
  }

  /// The other has dialled: say so, once we can write there, or by notification when that takes too long.
  private mutating func answer(now: MonotonicTime) -> [Action] {
    answerBy = .never
    return [.say(hello)] + open(now: now)
  }

  private mutating func open(now: MonotonicTime) -> [Action] {
    guard phase != .open, let heard else { return [] }
    phase = .open
    deadlineOfPhase = .never
    helloAt = .never
    signAt = now.advanced(by: BlueZLimits.quietTime)
    let isCentral = isDialler && (!heard.isDialler || token < heard.token)
    return [.open(isCentral ? .central : .peripheral)] + deliver(now: now)
  }

  // MARK: What is said

  package mutating func received(_ value: [UInt8], hasRoom: Bool, now: MonotonicTime) -> [Action] {
    guard phase != .ended else { return [] }
    guard let message = LinkMessage(decoding: value) else { return wasted() }
    missedSigns = 0
    signAt = phase == .open ? now.advanced(by: BlueZLimits.quietTime) : .never
    switch message {
    case .hello(let hello): return received(hello, now: now)
    case .tagged(let token, let inner):
      // Notified to everybody: most are not for us.
      guard token == self.token else { return [] }
      return received(inner.bytes, hasRoom: hasRoom, now: now)
    case .bye:
      guard heard != nil else { return [] }
      guard phase == .open else { return end(.closedByPeer, EndReason.closed) }
      // It may have overtaken frames that were sent before it.
      goneAt = min(goneAt, now.advanced(by: BlueZLimits.byeTime))
      return []
    case .data(let sequence, let frame):
      // Whoever answers our hello may send at once, and a frame may overtake the answer.
      guard phase == .open || phase == .greeting else {
        early &+= 1
        return []
      }
      window.receive(sequence, frame, now: now)
      return deliver(now: now) + grant(hasRoom: hasRoom)
    case .grant(let sequence):
      window.receiveGrant(sequence)
      return []
    case .probe(let sequence):
      guard phase == .open else { return [] }
      return [.say(.grant(window.receiveProbe(sequence, hasRoom: hasRoom, now: now)))]
    }
  }

  private mutating func wasted() -> [Action] {
    garbage &+= 1
    guard garbage >= BlueZLimits.garbage else { return [] }
    phase = .ended
    return [.refuse]
  }

  private mutating func received(_ hello: LinkMessage.Hello, now: MonotonicTime) -> [Action] {
    guard hello.token != 0, hello.token != token || !isDialler else { return wasted() }
    silentAt = .never
    if let heard, heard.token != hello.token, phase == .open {
      phase = .ended
      return [.restart(LinkMessage.hello(hello).bytes)]
    }
    heard = hello
    switch phase {
    case .open: return hello.heard == token ? [] : [.say(self.hello)]
    case .greeting: return greet(now: now)
    case .resolving where !isDialler:
      guard hello.isDialler else { return [] }
      if characteristic != nil { return answer(now: now) }
      answerBy = min(answerBy, now.advanced(by: BlueZLimits.answerWithin))
      return []
    case .resolving, .subscribing, .ended: return []
    }
  }

  /// What has come in order.
  ///
  /// - Parameter isLast: nothing more comes; what is missing is given up.
  private mutating func deliver(now: MonotonicTime, isLast: Bool = false) -> [Action] {
    guard phase == .open else { return [] }
    var actions: [Action] = []
    repeat {
      while let frame = window.next() { actions.append(.deliver(frame)) }
    } while window.giveUpMissing(now: now, atOnce: isLast)
    return actions
  }

  /// Room for what has come, when it is time.
  package mutating func grant(hasRoom: Bool) -> [Action] {
    window.grant(hasRoom: hasRoom).map { [.say(.grant($0))] } ?? []
  }

  /// Whether the peer has room for a frame, and the message that carries it.
  package var maySend: Bool { phase == .open && window.isOpen && goneAt == .never }

  package mutating func message(carrying frame: [UInt8], now: MonotonicTime) -> LinkMessage {
    .data(sequence: window.send(now: now), frame: frame)
  }

  // MARK: Ends

  package mutating func end(_ end: LinkEnd, _ reason: String) -> [Action] {
    guard phase != .ended else { return [] }
    phase = .ended
    return [.end(end, reason: reason)]
  }

  /// Ends a link whose peer has said goodbye, with what had come of it; does nothing where none has.
  package mutating func part(now: MonotonicTime) -> [Action] {
    guard phase == .open, goneAt != .never else { return [] }
    return deliver(now: now, isLast: true) + end(.closedByPeer, EndReason.closed)
  }

  package mutating func tick(now: MonotonicTime) -> [Action] {
    var actions: [Action] = []
    if silentAt <= now {
      silentAt = .never
      actions.append(.silent)
    }
    if answerBy <= now { actions += answer(now: now) }
    if helloAt <= now, phase == .greeting { actions += greet(now: now) }
    if deadlineOfPhase <= now {
      let reason =
        switch phase {
        case .greeting: "no answer to the hello"
        case .open: "the peer's service has gone"
        default: "our characteristic did not show"
        }
      return actions + end(.lost, reason)
    }
    if phase == .open, signAt <= now {
      // BlueZ keeps the connection of a program that has died, and says nothing.
      missedSigns += 1
      guard missedSigns <= BlueZLimits.missedSigns else { return actions + end(.lost, EndReason.silent) }
      signAt = now.advanced(by: BlueZLimits.signTime)
      actions.append(.say(.probe(window.lastSent)))
    }
    if goneAt <= now { return actions + part(now: now) }
    if phase == .open {
      let lost = window.lostFrames
      actions += deliver(now: now)
      // The peer may wait for room that what is lost has taken.
      if window.lostFrames != lost { actions += grant(hasRoom: true) }
    }
    switch window.tick(now: now) {
    case .probe(let sequence): actions.append(.say(.probe(sequence)))
    case .giveUp: actions += end(.lost, EndReason.stuck)
    case nil: break
    }
    return actions
  }

  package var deadline: MonotonicTime {
    guard phase != .ended else { return .never }
    let ofFrames = phase == .open ? window.deadline : .never
    return [deadlineOfPhase, helloAt, answerBy, silentAt, signAt, goneAt, ofFrames].min() ?? .never
  }
}
