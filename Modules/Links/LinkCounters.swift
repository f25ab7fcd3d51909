internal import Telemetry

/// What the links count, by reason.
package enum LinkCount: String, CounterReason {
  case opened, established, closed, lost
  /// Links whose frames are too small for the mesh: closed.
  case tooNarrow
  case dialsStarted, dialsFailed
  case handshakesRefused
  /// The address has begun too many handshakes lately: the link was closed before anything was read.
  case handshakesOverRate
  /// Links of others that had proved nothing yet and made room for a newer one.
  case halfOpenEvicted
  /// Somebody proved our own keys to us: another node runs with a copy of our state directory.
  case ownIdentityMet
  case framesSent, framesReceived
  /// The neighbour sent more than its link carries: the frame was not looked at.
  case framesOverBudget
  /// A frame before its handshake was over; the peer sends it again.
  case framesEarly
  case framesUnopened
  /// A frame could not be sealed, because the cryptographic library failed: the link is closed and dialled anew.
  case framesUnsealed
  case framesMalformed
  /// A type that a later version knows.
  case framesUnknown
  /// A whole packet that is none.
  case packetsMalformed
  /// A packet of a later wire version.
  case packetsOfUnknownVersion
  case packetsRepeated
  case fragmentsRefused
  case reassembliesDropped
  case queueFull, expired, unacknowledged, tooLong, linkDown
  /// Its author was blocked while it waited.
  case originBlocked
  /// A frame of the link's own, or of the trees, that was pushed out by later ones.
  case controlFull
  /// A peer came back three times within a minute.
  case unsteady
  /// The transport dropped received frames because we were slow.
  case transportDropped
}

extension LinkCount {
  init(_ drop: QueueDrop) {
    switch drop {
    case .queueFull: self = .queueFull
    case .expired: self = .expired
    case .unacknowledged: self = .unacknowledged
    case .tooLong: self = .tooLong
    case .linkDown: self = .linkDown
    case .originBlocked: self = .originBlocked
    case .controlFull: self = .controlFull
    }
  }
}
