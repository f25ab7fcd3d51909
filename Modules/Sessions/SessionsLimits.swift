internal import Routing

/// Bounds and times of the session, each with its reason.
package enum SessionsLimits {
  /// Bytes of UTF-8 in one message: a page of text, sixteen fragments of a common frame.
  package static let textBytes = 4_096
  /// Messages that one receipt speaks of.
  package static let receiptMessages = 32
  /// Messages that wait for a key of their recipient; one more is refused.
  package static let waitingMessages = 256
  /// Packets that wait for the card of their author...
  package static let heldPackets = 64
  /// ...with so many bytes in all...
  package static let heldBytes = 256 << 10
  /// ...for so long.
  package static let heldFor: Duration = .seconds(600)
  /// Message IDs remembered in memory before the store is asked.
  package static let recentMessages = 4_096

  /// Edges of the map: what a terminal can show, in some 50 KB.
  package static let mapEdges = 1_024
  /// An edge that no packet has come over for so long is not shown: two presences and some.
  package static let mapMemory: Duration = .seconds(900)
  /// A message older than this when it comes is marked as late: no way through a mesh takes so long without a break.
  package static let lateMilliseconds: UInt64 = 60_000
  /// A node says that it is there this often; a peer that was not heard for two and a bit of it is silent.
  package static let presenceInterval: Duration = .seconds(300)
  /// Spread of that interval, so that a crowd does not speak at once.
  package static let presenceJitter: Duration = .seconds(30)
  /// After new neighbours came presence is sent at once, but not more often than this.
  package static let presenceFloor: Duration = .seconds(60)
  /// A peer that was not heard for so long is silent.
  package static let silentAfter: Duration = .seconds(720)
  /// A neighbour whose link went is silent after this, unless it is heard over others meanwhile.
  package static let neighbourGrace: Duration = .seconds(90)
  /// A silent peer is back, and said to be, only when it was silent for this long: no flapping.
  package static let returnHysteresis: Duration = .seconds(30)

  /// A ping that was not answered by then is lost, unless the caller said otherwise.
  package static let pingTimeout: Duration = .seconds(30)
  /// Pings under way at a time.
  package static let pings = 64
  /// Answers to pings of one peer: a burst, then one a second.
  package static let pongBurst = 5
  /// Own packets whose hand-over to a neighbour is still to be told.
  package static let trackedPackets = 1_024
  /// Own packets whose answer is waited for: as many as the relay waits for.
  package static let unansweredPackets = RoutingLimits.awaitedPackets

  /// Readers of events at a time, and what is kept for each that is slow.
  package static let eventReaders = 64
  package static let eventRing = 1_024
  /// Own messages that are sent again after a restart, newest first.
  package static let resentMessages = 512

  /// Milliseconds since 1970 before which no card can have been issued by a clock that is right: the start of 2026.
  package static let firstRelease: UInt64 = 1_767_225_600_000
  /// Milliseconds by which the clock of another may be ahead of ours and still be called right.
  package static let clockTolerance: UInt64 = 600_000
  /// Own messages whose age is counted since they were written, oldest out.
  package static let countedMessages = 1_024
}
