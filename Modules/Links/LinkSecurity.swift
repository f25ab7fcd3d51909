package import Identities

/// Why a handshake or a frame was refused.
package enum LinkSecurityError: Error, Sendable, Equatable {
  /// The bytes are not what the handshake expects now.
  case malformed
  /// The card does not verify.
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
package struct HandshakeProgress: Sendable {
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
package struct EstablishedLink: Sendable {
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
  func handshake(role: HandshakeRole, hellos: [UInt8]) -> any LinkHandshake
}

/// Who speaks first: the one who dialled.
package enum HandshakeRole: Sendable, Hashable {
  case initiator
  case responder
}

/// One handshake of one link: any number of messages each way, in order, none lost.
package protocol LinkHandshake: Sendable {
  /// Called once, when the link is up and both sides have said hello.
  mutating func start() async throws(LinkSecurityError) -> HandshakeProgress
  /// Called with every message of the peer until `established` is set. After an error the link is closed.
  mutating func receive(_ message: [UInt8]) async throws(LinkSecurityError) -> HandshakeProgress
}

/// The frames of one established link.
///
/// Keys are changed inside `seal` and `open` as the implementation sees fit; both sides do it at the same frame, so
/// nothing else needs to know. When a session says that it is worn out, the link is closed and dialled anew.
package protocol LinkSession: Sendable {
  /// Bytes by which a sealed frame is longer than its content.
  var overhead: Int { get }
  /// Whether the keys have served their time and only a new handshake gives better ones.
  var isWornOut: Bool { get }
  /// The frame that carries `content`; its first byte is below 0x80.
  mutating func seal(_ content: [UInt8]) throws(LinkSecurityError) -> [UInt8]
  /// The content of a frame of the peer. A refused frame changes nothing.
  mutating func open(_ frame: [UInt8]) throws(LinkSecurityError) -> [UInt8]
}
