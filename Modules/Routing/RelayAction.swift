package import Streams
package import WireFormat

/// What the relay is to do, as `RelayEngine` has decided it; to be carried out in the order given.
package enum RelayAction: Sendable {
  /// The packet that was received, or is our own, was judged so. Comes first of what a packet brings.
  case record(RelayState.Verdict)
  case count(RelayCount, UInt64)
  /// To be handed down to the links. They may have no room: it is only offered.
  case offer(OutboundPacket)
  /// To be handed up to the session, which is promised it.
  case deliver(Packet, id: PacketID, receivedAt: MonotonicTime)
  /// A packet for us that was handed up before came once more, by a way on which its origin sends when it has no answer: the
  /// answer is to be given again.
  case answerAgain(Packet, id: PacketID, receivedAt: MonotonicTime)
  /// To be sent to one neighbour, ahead of packets and unacknowledged: a frame of types 64 to 73.
  case control(slot: Int, LinkFrame)
  /// The neighbour in this slot is the first to have taken over a packet of our own, by `PacketID.key`.
  case handedOver(key: UInt64, slot: Int)
}

/// What the relay counts, by reason.
package enum RelayCount: String, Sendable, CaseIterable {
  case accepted, upgraded, duplicate, expired, tooOld, wrongTime, blocked
  /// New, and at the end of its time to live: delivered, not forwarded.
  case outOfHops
  /// A new packet carried our own entry in its route, which only a lie or a forgotten packet explains.
  case ownRouteForged
  /// Packets handed down to the links, once each whatever the number of links.
  case forwarded
  /// The links did not keep up: the packet was not handed down.
  case outboundFull
  /// Packets of our own.
  case originated
  /// Old packets handed to a neighbour that came later.
  case backlog
  /// Packets that were kept for neighbours still to come when their origin was blocked.
  case carriedBlocked
  /// Packets of earlier runs that are remembered; that are past the horizon; for which there was no room.
  case restored, restoredExpired, restoredLeftOut
  /// Groups of packets of earlier runs that did not open.
  case historyDamaged
  /// What was seen could not be read or written.
  case historyFailed
  /// Origins that neighbours, and that we, have asked to be left out of; that were asked for again.
  case prunesReceived, prunesSent, reopensReceived, reopensSent
  /// Links that became the way to an origin because the one before was late too often.
  case parentsReplaced
  /// Origins that have lost their way with a link, and have none until the next packet.
  case orphansLeft
  /// Keys announced, by us and by neighbours; those for which there was no room.
  case announcementsSent, announcementsReceived, announcementsDropped, missingFull
  /// Packets asked for after an announcement; given up; asked for by neighbours; and those we do not have any more.
  case graftsSent, missingGivenUp, graftsAnswered, graftsUnknown
  /// Neighbours that do not know announcements and get what they miss whole.
  case neighboursWithoutTrees
  /// The links did not keep up: a frame of the trees was not handed down.
  case controlFull
  /// Frames of the trees that came although they are switched off.
  case controlIgnored
  /// Packets that a comparison with a neighbour has found at one end only.
  case packetsReconciled
  /// Comparisons that a neighbour did not answer; that no number of symbols solved; symbols asked for beyond a neighbour's
  /// allowance.
  case comparisonsUnanswered, comparisonsUnsolved, symbolsOverBudget
  /// Packets for one node that went to the next one towards it; our own that went by a second lane, and to everybody, for want
  /// of an answer.
  case lanesTaken, lanesDoubled, lanesWidened
  /// Packets on a lane that went to everybody from here, because there was no next node; because they came back.
  case lanesEnded, lanesClosed
  /// Packets on a lane that took another link, because the one they were on is gone.
  case lanesMended
  /// Packets that were passed on once more, because a neighbour wanted them to go further.
  case widened
  /// Packets that were answered in time.
  case lanesAnswered

  package init(_ verdict: RelayState.Verdict) {
    switch verdict {
    case .accepted: self = .accepted
    case .upgraded: self = .upgraded
    case .duplicate: self = .duplicate
    case .expired: self = .expired
    case .tooOld: self = .tooOld
    case .wrongTime: self = .wrongTime
    case .blocked: self = .blocked
    }
  }
}
