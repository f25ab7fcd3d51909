package import Identities
package import Streams
package import Transports

/// Decides which address is dialled when.
///
/// Addresses come from the scanner. One is dialled when its transport is powered on, it was heard lately, no link goes
/// there, its back-off is over and there is room. Failures double the back-off, a new boot of the peer (another hint)
/// ends it, and so does power that comes back; a link that was lost is tried again at once, with some spread. Where nobody
/// was in the air any more nothing has failed: the next sighting decides. Addresses that once led to a peer come first.
/// Bounded: the address that was not heard for longest goes, first of those that never proved a peer.
///
/// Names and addresses cost whoever makes them up nothing, so dials of addresses that have never proved a peer are bounded
/// together: after `LinksLimits.failedDials` failures within a minute they wait, while those that once led to a peer are
/// dialled as ever.
///
/// After a start the addresses that led to a peer in an earlier run come first too: when a transport is switched on, all
/// others wait for a moment, and these are dialled when they are heard, with some spread. One that fails thrice is a
/// stranger's like any other.
///
/// Pure; randomness comes in with each call that needs it.
package struct DialPlan: Sendable {
  package typealias Key = Candidate.Key

  package enum Phase: Sendable, Equatable {
    case waiting
    case dialling(DialStep)
    case linked
  }

  /// The step that failed last and why, for people.
  package struct Failure: Sendable, Equatable {
    package var step: DialStep
    package var reason: String
  }

  package struct Entry: Sendable {
    package var phase = Phase.waiting
    package var lastHeard: MonotonicTime
    package var signalStrength: Int8?
    package var hint: UInt32?
    package var peer: PeerID?
    package var failures = 0
    package var notBefore: MonotonicTime
    package var lastFailure: Failure?
    /// It led to a peer in an earlier run.
    var isExpected = false
    /// When it was to be dialled it was not in the air any more: it is dialled when it is heard again, and not before.
    var isUnheard = false

    /// Whether it led to a peer, in this run or an earlier one.
    var isFamiliar: Bool { peer != nil || isExpected && failures < LinksLimits.expectedFailures }
  }

  private struct Power: Sendable {
    var isOn = false
    /// Until then addresses that never led to a peer wait.
    var strangersFrom = MonotonicTime.start
    var linkLimit: Int
  }

  package private(set) var candidates: [Key: Entry] = [:]
  private var power: [Power]
  /// When dials of addresses without a proved peer failed lately, oldest first; `LinksLimits.failedDials` at most.
  private var failedDials: [MonotonicTime] = []
  /// Addresses that led to a peer in an earlier run and have not in this one.
  private var expected: Set<Key> = []

  /// - Parameter linkLimits: how many links each transport holds at most, in their order.
  package init(linkLimits: [Int]) { power = linkLimits.map { Power(linkLimit: $0) } }

  /// Addresses that led to a peer in an earlier run; at most `LinksLimits.expectedAddresses`. Called before anything is
  /// heard.
  package mutating func expect(_ keys: [Key]) { expected.formUnion(keys.prefix(LinksLimits.expectedAddresses)) }

  /// A transport was switched on or off. Off forgets every dial under way: the transport failed them.
  package mutating func powered(_ transport: Int, isOn: Bool, now: MonotonicTime) {
    if isOn, !power[transport].isOn {
      if expected.contains(where: { $0.transport == transport }) {
        power[transport].strangersFrom = now.advanced(by: LinksLimits.headStart)
      }
      // What failed lately failed for want of power.
      for (key, candidate) in candidates where key.transport == transport && candidate.phase == .waiting {
        let notBefore = candidate.failures > 0 ? now : candidate.notBefore
        candidates[key]?.failures = 0
        candidates[key]?.notBefore = candidate.isFamiliar ? notBefore : max(notBefore, power[transport].strangersFrom)
      }
    }
    power[transport].isOn = isOn
  }

  /// - Parameter random: 64 random bits, for the spread.
  package mutating func heard(
    _ key: Key, signalStrength: Int8?, hint: UInt32?, now: MonotonicTime, random: UInt64
  ) {
    guard var candidate = candidates[key] else {
      evictIfFull()
      let isExpected = expected.contains(key)
      let notBefore =
        isExpected
        ? now.advanced(by: LinksLimits.reconnectSpread * Self.fraction(random))
        : max(now, power[key.transport].strangersFrom)
      candidates[key] = Entry(
        lastHeard: now, signalStrength: signalStrength, hint: hint, notBefore: notBefore, isExpected: isExpected)
      return
    }
    if let hint, hint != candidate.hint {
      candidate.failures = 0
      candidate.notBefore = candidate.isFamiliar ? now : max(now, power[key.transport].strangersFrom)
    }
    candidate.lastHeard = now
    candidate.isUnheard = false
    candidate.signalStrength = signalStrength
    candidate.hint = hint ?? candidate.hint
    candidates[key] = candidate
  }

  /// The dials to start now; each is under way from here on.
  ///
  /// - Parameters:
  ///   - links: links each transport holds now.
  ///   - isLinked: whether a peer has a link already, over whatever address.
  package mutating func dials(
    now: MonotonicTime, links: (_ transport: Int) -> Int, isLinked: (PeerID) -> Bool
  ) -> [Key] {
    var chosen: [Key] = []
    let mayDialStrangers = strangersWait(until: now) == nil
    for transport in power.indices where power[transport].isOn {
      var underWay = candidates.count { $0.key.transport == transport && $0.value.phase.isDialling }
      var free = power[transport].linkLimit - links(transport) - underWay
      let ready = candidates.filter { key, candidate in
        key.transport == transport && candidate.phase == .waiting && candidate.notBefore <= now && !candidate.isUnheard
          && now.since(candidate.lastHeard) < LinksLimits.candidateLifetime
          && candidate.peer.map(isLinked) != true && (candidate.isFamiliar || mayDialStrangers)
      }
      for (key, _) in ready.sorted(by: Self.isBefore) {
        guard underWay < LinksLimits.dialsPerTransport, free > 0 else { break }
        candidates[key]?.phase = .dialling(.scan)
        chosen.append(key)
        underWay += 1
        free -= 1
      }
    }
    return chosen
  }

  /// When `dials` may have something to do, if nothing else happens: the end of a back-off. Whoever could be dialled at
  /// `now` and was not waits for an event (a link that ends, a sighting) and not for time.
  package func deadline(after now: MonotonicTime) -> MonotonicTime? {
    let ends = candidates.lazy.filter {
      $0.value.phase == .waiting && $0.value.notBefore > now && !$0.value.isUnheard && self.power[$0.key.transport].isOn
    }
    .map(\.value.notBefore).min()
    return [ends, strangersWait(until: now)].compactMap { $0 }.min()
  }

  /// Until when dials of strangers wait, if they do.
  private func strangersWait(until now: MonotonicTime) -> MonotonicTime? {
    guard failedDials.count == LinksLimits.failedDials, let oldest = failedDials.first else { return nil }
    let end = oldest.advanced(by: LinksLimits.failedDialsInterval)
    return end > now ? end : nil
  }

  package mutating func reached(_ key: Key, step: DialStep) {
    guard candidates[key]?.phase.isDialling == true else { return }
    candidates[key]?.phase = .dialling(step)
  }

  /// - Parameter random: 64 random bits, for the spread.
  package mutating func failed(_ key: Key, step: DialStep, reason: String, now: MonotonicTime, random: UInt64) {
    guard var candidate = candidates[key] else { return }
    candidate.phase = .waiting
    candidate.lastFailure = Failure(step: step, reason: reason)
    if step <= .scan {
      candidate.isUnheard = true
      candidate.notBefore = now.advanced(by: LinksLimits.unheardPause)
      candidates[key] = candidate
      return
    }
    candidate.failures += 1
    if !candidate.isFamiliar {
      failedDials.append(now)
      if failedDials.count > LinksLimits.failedDials { failedDials.removeFirst() }
    }
    let doubled = LinksLimits.firstRetry * (1 << min(candidate.failures - 1, 6))
    let delay = min(doubled, LinksLimits.lastRetry)
    let spread = Self.fraction(random) * 0.5 + 0.75
    candidate.notBefore = now.advanced(by: delay * spread)
    candidates[key] = candidate
  }

  /// A link goes there, whoever dialled.
  package mutating func linked(_ key: Key, now: MonotonicTime) {
    if candidates[key] == nil {
      evictIfFull()
      candidates[key] = Entry(lastHeard: now, notBefore: now)
    }
    candidates[key]?.phase = .linked
  }

  /// The link there proved who the peer is.
  package mutating func identified(_ key: Key, as peer: PeerID) {
    candidates[key]?.peer = peer
    candidates[key]?.failures = 0
    candidates[key]?.lastFailure = nil
    expected.remove(key)
  }

  /// Addresses that have led to a peer in this run, those with a link first and then the one heard last.
  package func proved(on transport: Int) -> [TransportAddress] {
    func isLinked(_ entry: Entry) -> Int { entry.phase == .linked ? 0 : 1 }
    return candidates.filter { $0.key.transport == transport && $0.value.peer != nil }
      .sorted {
        let (one, other) = (isLinked($0.value), isLinked($1.value))
        return one == other ? $0.value.lastHeard > $1.value.lastHeard : one < other
      }
      .map(\.key.address)
  }

  private static func fraction(_ random: UInt64) -> Double { Double(random >> 11) / Double(1 << 53) }

  /// The link there has ended.
  ///
  /// - Parameter hasFailed: it ended before the peer was known, or the peer refused us: back off.
  package mutating func unlinked(
    _ key: Key, hasFailed: Bool, reason: String, now: MonotonicTime, random: UInt64
  ) {
    guard candidates[key] != nil else { return }
    if hasFailed {
      failed(key, step: .subscribe, reason: reason, now: now, random: random)
      return
    }
    candidates[key]?.phase = .waiting
    candidates[key]?.notBefore = now.advanced(by: LinksLimits.reconnectSpread * Self.fraction(random))
  }

  private mutating func evictIfFull() {
    guard candidates.count >= LinksLimits.candidates else { return }
    let idle = candidates.filter { $0.value.phase == .waiting }
    let oldest = idle.min { one, other in
      (one.value.isFamiliar ? 1 : 0, one.value.lastHeard) < (other.value.isFamiliar ? 1 : 0, other.value.lastHeard)
    }
    if let oldest { candidates[oldest.key] = nil }
  }

  private static func isBefore(_ left: (key: Key, value: Entry), _ right: (key: Key, value: Entry)) -> Bool {
    let (near, far) = (left.value.signalStrength ?? -100, right.value.signalStrength ?? -100)
    let (isNew, isOtherNew) = (left.value.isFamiliar ? 0 : 1, right.value.isFamiliar ? 0 : 1)
    return (isNew, left.value.failures, -Int(near), left.key.address.description)
      < (isOtherNew, right.value.failures, -Int(far), right.key.address.description)
  }
}

extension DialPlan.Phase {
  var isDialling: Bool { if case .dialling = self { true } else { false } }
}
