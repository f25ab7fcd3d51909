package import Identities
package import Transports

/// What people are told about links as it happens.
package enum LinkNotice: Sendable {
  case dialReached(transport: String, address: String, DialStep)
  case dialFailed(transport: String, address: String, step: DialStep, reason: String)
  case up(link: UInt64, peer: PeerID, role: LinkRole, transport: String)
  case moved(link: UInt64, peer: PeerID)
  case down(peer: PeerID, reason: String)
  /// The link to a peer came back too often; told after its `up`.
  case unsteady(link: UInt64, ReconnectWatch.Alarm)
  case refused(link: UInt64, reason: LinkTable.CloseReason)
}

/// One link, or one address that is dialled, as it is listed.
package struct LinkRecord: Sendable {
  /// How far it is: a dial's step, then `securing`, then `ready`.
  package enum Step: Sendable, Equatable {
    case dial(DialStep)
    case waiting
    case securing
    case ready
  }

  package var link: UInt64?
  package var transport: String
  package var address: String
  package var role: LinkRole
  package var step: Step
  package var peer: PeerID?
  /// Whether frames to the peer go over this link.
  package var isActive: Bool
  package var frameSize: Int
  package var signalStrength: Int8?
  package var queued: Int
  package var framesSent: UInt64
  package var framesReceived: UInt64
  package var retransmitted: UInt64
  package var ageSeconds: Double
  package var lastFailure: DialPlan.Failure?
}
