package import Streams

/// How many frames may be on their way: BlueZ takes any number and tells nobody when they have left, so the peer grants
/// room; and in which order they were sent. Both directions of one link. Pure.
package struct CreditWindow: Sendable {
  package enum Action: Sendable, Hashable {
    case probe(UInt8)
    /// The peer has answered nothing for too long.
    case giveUp
  }

  /// Sequence of the next frame we send, and of the last that was granted.
  private var nextSent: UInt8 = 0
  private var granted: UInt8 = .max
  private var probeAt: MonotonicTime?
  private var probes = 0

  /// The last frame that was handed on, or given up; what came after it waits for those in between.
  private var lastReceived: UInt8 = .max
  private var lastGranted: UInt8 = .max
  private var held: [UInt8: (frame: [UInt8], since: MonotonicTime)] = [:]
  /// The newest frame that is known to have been sent to us, and since when it is known.
  private var newest: UInt8 = .max
  private var newestSince = MonotonicTime.start
  /// When what is missing is given up.
  private var missingUntil: MonotonicTime?
  /// Frames that did not come, or too late.
  package private(set) var lostFrames: UInt64 = 0
  /// Frames that were overtaken by others and put back in their place.
  package private(set) var reorderedFrames: UInt64 = 0

  package init() {}

  /// The sequence of the last frame sent.
  var lastSent: UInt8 { nextSent &- 1 }

  package var inFlight: Int { Int(lastSent &- granted) }
  package var isOpen: Bool { inFlight < BlueZLimits.window }

  /// Takes a place in the window. - Returns: the sequence of the frame.
  package mutating func send(now: MonotonicTime) -> UInt8 {
    defer { nextSent &+= 1 }
    if !hasRoomAfterNext { probeAt = now.advanced(by: BlueZLimits.probeAfter) }
    return nextSent
  }

  private var hasRoomAfterNext: Bool { inFlight + 1 < BlueZLimits.window }

  /// The peer has everything up to `sequence`. One that was never sent is ignored.
  package mutating func receiveGrant(_ sequence: UInt8) {
    guard Int(sequence &- granted) <= inFlight else { return }
    granted = sequence
    probes = 0
    if isOpen { probeAt = nil }
  }

  /// A frame came. BlueZ sends over up to three bearers at once (Enhanced ATT), which overtake each other; one that was
  /// handed on already, was given up, or cannot have been sent is dropped.
  package mutating func receive(_ sequence: UInt8, _ frame: [UInt8], now: MonotonicTime) {
    let step = Int(sequence &- lastReceived)
    guard step > 0, step <= BlueZLimits.window, held[sequence] == nil else { return }
    held[sequence] = (frame, now)
    if isNews(sequence) { learn(newest: sequence, now: now) } else { reorderedFrames &+= 1 }
  }

  private mutating func learn(newest sequence: UInt8, now: MonotonicTime) {
    (newest, newestSince) = (sequence, now)
    if missingUntil == nil { missingUntil = now.advanced(by: BlueZLimits.reorderTime) }
  }

  /// What is missing is waited for as long as the oldest of those that came after it.
  private mutating func awaitMissing() {
    guard lastReceived != newest else {
      missingUntil = nil
      return
    }
    let since = held.values.lazy.map(\.since).min() ?? newestSince
    missingUntil = since.advanced(by: BlueZLimits.reorderTime)
  }

  private func isNews(_ sequence: UInt8) -> Bool { sequence &- lastReceived > newest &- lastReceived }

  /// The next frame in order, if it has come.
  package mutating func next() -> [UInt8]? {
    guard let (frame, _) = held.removeValue(forKey: lastReceived &+ 1) else { return nil }
    lastReceived &+= 1
    awaitMissing()
    return frame
  }

  /// Gives up what is missing in front of the next frame that is there.
  ///
  /// - Parameter atOnce: nothing more will come.
  package mutating func giveUpMissing(now: MonotonicTime, atOnce: Bool = false) -> Bool {
    guard let due = missingUntil, atOnce || due <= now, held[lastReceived &+ 1] == nil else { return false }
    while lastReceived != newest, held[lastReceived &+ 1] == nil {
      lastReceived &+= 1
      lostFrames &+= 1
    }
    awaitMissing()
    return true
  }

  /// Grants what has come, when it is time: `hasRoom` says whether whoever reads the frames keeps up.
  package mutating func grant(hasRoom: Bool) -> UInt8? {
    guard hasRoom, lastReceived &- lastGranted >= BlueZLimits.grantEvery else { return nil }
    lastGranted = lastReceived
    return lastReceived
  }

  /// The peer asks for a grant up to its last frame: what is missing by now may have been overtaken, or is lost. Without
  /// room it gets the grant it has, as a sign of life.
  package mutating func receiveProbe(_ sequence: UInt8, hasRoom: Bool, now: MonotonicTime) -> UInt8 {
    let step = Int(sequence &- lastReceived)
    if step > 0, step <= BlueZLimits.window, isNews(sequence) {
      learn(newest: sequence, now: now)
    }
    if hasRoom { lastGranted = lastReceived }
    return lastGranted
  }

  /// What is due by time.
  package mutating func tick(now: MonotonicTime) -> Action? {
    guard let due = probeAt, due <= now, !isOpen else { return nil }
    probes += 1
    guard probes <= BlueZLimits.probes else { return .giveUp }
    probeAt = now.advanced(by: BlueZLimits.probeAfter)
    return .probe(lastSent)
  }

  package var deadline: MonotonicTime {
    min(isOpen ? .never : probeAt ?? .never, missingUntil ?? .never)
  }
}
