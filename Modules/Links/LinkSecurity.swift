package import Identities
package import Streams

/// Why a handshake or a frame was refused.
package enum LinkSecurityError: Error, Sendable, Equatable {
  /// The bytes are not what the handshake expects now.
  case malformed
  /// A message does not open: a stranger, a wrong community, or something changed on the way.
  case handshakeRefused
  /// The card does not verify, or is not of whom the handshake has proved.
  case cardRefused
  /// The peer is ourselves, heard through a mirror.
  case ownCard
  /// The peer speaks a version that we do not.
  case unsupportedVersion(UInt8)
  /// The frame does not open.
  case frameRefused
  /// The random generator or another primitive failed.
  case primitiveFailed
}

/// What a step of a handshake asks for.
package struct HandshakeProgress {
  /// Messages to send now, each at most `LinksLimits.handshakeBytes`.
  package var messages: [[UInt8]]
  /// Who the peer is and how frames are sealed from now on, when the handshake is over on this side.
  package var established: EstablishedLink?

  package init(messages: [[UInt8]] = [], established: EstablishedLink? = nil) {
    self.messages = messages
    self.established = established
  }
}

/// The end of a handshake.
package struct EstablishedLink {
  package var card: VerifiedCard
  package var session: any LinkSession

  package init(card: VerifiedCard, session: any LinkSession) {
    self.card = card
    self.session = session
  }
}

/// How a link is protected. Nothing but the implementation knows whether, or how, frames are sealed.
package protocol LinkSecurity: Sendable {
  /// A handshake for one new link. Several run at a time.
  ///
  /// - Parameter hellos: what both sides said before, the initiator's first: a handshake binds it, so that nobody can
  ///   have changed it on the way.
  func handshake(role: HandshakeRole, hellos: [UInt8]) throws(LinkSecurityError) -> any LinkHandshake
}

/// Who speaks first: the one who dialled.
package enum HandshakeRole: Sendable, Hashable {
  case initiator
  case responder
}

/// One handshake of one link: any number of messages each way, in order, none lost. Used by one task alone.
package protocol LinkHandshake: AnyObject {
  /// Called once, when the link is up and both sides have said hello.
  func start() async throws(LinkSecurityError) -> HandshakeProgress
  /// Called with every message of the peer until `established` is set. After an error the link is closed.
  func receive(_ message: [UInt8]) async throws(LinkSecurityError) -> HandshakeProgress
}

/// The frames of one established link.
///
/// Keys are changed inside `seal` and `open` as the implementation sees fit; both sides do it at the same frame, so
/// nothing else needs to know. Used by the link manager alone. When a session says that it is worn out, the link is closed and dialled anew.
package protocol LinkSession: AnyObject {
  /// Bytes by which a sealed frame is longer than its content.
  var overhead: Int { get }
  /// Whether the keys have served their time and only a new handshake gives better ones.
  var isWornOut: Bool { get }
  /// The frame that carries `content`; its first byte is below 0x80.
  func seal(_ content: [UInt8]) throws(LinkSecurityError) -> [UInt8]
  /// The content of a frame of the peer. A refused frame changes nothing.
  func open(_ frame: [UInt8]) throws(LinkSecurityError) -> [UInt8]
  /// Time has passed: called at least once every `LinksLimits.keepAlive`, for what is bound to time and not to frames.
  func tick(now: MonotonicTime)
}
