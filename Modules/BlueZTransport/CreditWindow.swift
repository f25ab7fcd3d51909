package import Streams

/// How many frames may be on their way: BlueZ takes any number and tells nobody when they have left, so the peer grants
/// room. Both directions of one link. Pure.
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

  private var lastReceived: UInt8 = .max
  private var lastGranted: UInt8 = .max
  /// Frames that the sequence numbers say are missing.
  package private(set) var lostFrames: UInt64 = 0

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

  /// A frame came. - Returns: false when it is one of before: the sequence went back.
  package mutating func receive(_ sequence: UInt8) -> Bool {
    let step = sequence &- lastReceived
    guard step > 0, step < 128 else { return false }
    lostFrames &+= UInt64(step - 1)
    lastReceived = sequence
    return true
  }

  /// Grants what has come, when it is time: `hasRoom` says whether whoever reads the frames keeps up.
  package mutating func grant(hasRoom: Bool) -> UInt8? {
    guard hasRoom, lastReceived &- lastGranted >= BlueZLimits.grantEvery else { return nil }
    lastGranted = lastReceived
    return lastReceived
  }

  /// The peer asks for a grant up to its last frame: what did not come by now is lost. Without room it gets the grant it
  /// has, as a sign of life.
  package mutating func receiveProbe(_ sequence: UInt8, hasRoom: Bool) -> UInt8 {
    let step = sequence &- lastReceived
    if step > 0, step < 128 {
      lostFrames &+= UInt64(step)
      lastReceived = sequence
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

  package var deadline: MonotonicTime? { isOpen ? nil : probeAt }
}
