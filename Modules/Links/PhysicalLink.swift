internal import Streams
internal import Transports

/// What the link manager holds for one open link. Owned by its actor, never shared.
final class PhysicalLink {
  let link: any TransportLink
  let key: DialPlan.Key
  let openedAt: MonotonicTime
  var handshake = HandshakeTransfer()
  /// What we said first.
  let hello: [UInt8]
  var session: (any LinkSession)?
  var budget: LinkBudget
  /// The largest frame the peer can take, from its hello.
  var peerFrameSize: Int?
  /// Sealed and refused for want of room: the first to go when there is some.
  var refused: [UInt8]?
  var slot: Int?
  var lastReceived: MonotonicTime
  var pingedAt: MonotonicTime?
  var framesSent: UInt64 = 0
  var framesReceived: UInt64 = 0
  var brokenFrames: UInt64 = 0
  var closeReason: LinkTable.CloseReason?
  /// The peer closes on purpose: not a failure of the dial.
  var isPeerLeaving = false

  init(link: any TransportLink, key: DialPlan.Key, hello: [UInt8], bytesPerSecond: Int, now: MonotonicTime) {
    self.link = link
    self.hello = hello
    self.key = key
    openedAt = now
    budget = LinkBudget(bytesPerSecond: bytesPerSecond, now: now)
    lastReceived = now
  }

  var frameSize: Int { min(link.frameSize, peerFrameSize ?? link.frameSize) }
}
