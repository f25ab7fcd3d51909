/// What a handshake message carries or mixes in (revision 34 section 7.1 and 9.2).
package enum NoiseToken: Hashable, Sendable {
  /// A fresh public key.
  case e
  /// The static public key, sealed once there is a key.
  case s
  /// Agreement of both ephemeral keys.
  case ee
  /// Agreement of the initiator's ephemeral with the responder's static key.
  case es
  /// Agreement of the initiator's static with the responder's ephemeral key.
  case se
  /// Agreement of both static keys.
  case ss
  /// A key that both sides had before.
  case psk
}
