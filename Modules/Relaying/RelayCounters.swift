internal import Telemetry

/// What the relay counts, by reason.
package enum RelayCount: String, CounterReason {
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
}
