package import Primitives

/// Why a Noise message was not made or not taken. After any of them the state is as it was before.
package enum NoiseError: Error, Equatable, Hashable, Sendable {
  /// A message of more than 65,535 bytes was to be made or read.
  case messageTooLong(found: Int)
  /// A message ends inside one of its fields.
  case messageTooShort(needed: Int, available: Int)
  /// Something sealed does not open: changed on the way, another key, another transcript.
  case notAuthentic
  /// A public key in a message is no point of the curve, or one that gives everybody the same secret.
  case publicKeyRefused
  /// It is the other side's turn, or the handshake is over.
  case outOfTurn
  /// The transport keys were asked for before the last message.
  case notFinished
  /// The pattern needs a key that was not handed in.
  case missingKey(NoiseToken)
  /// As many bytes of preshared keys were handed in as no pattern of this kind takes.
  case presharedKeysOfWrongLength(expected: Int, found: Int)
  /// This direction does not exist in a one-way pattern.
  case oneWay
  /// Every counter has been used; only a new handshake helps.
  case counterExhausted
  /// A message with this counter has been opened already.
  case replayed(UInt64)
  /// The counter lies before the replay window.
  case tooOld(UInt64)
  /// The counter lies more changes of keys ahead than `NoiseLimits.keysAhead`.
  case tooFarAhead(UInt64)
  /// A primitive failed: no memory, no randomness.
  case primitive(PrimitiveError)

  init(_ error: PrimitiveError) {
    switch error {
    case .authenticationFailed: self = .notAuthentic
    case .notOnCurve, .lowOrderPoint: self = .publicKeyRefused
    default: self = .primitive(error)
    }
  }
}
