internal import CCrypto

/// Why a cryptographic primitive gave no result. Facts only; nothing of the data is in it.
package enum PrimitiveError: Error, Equatable, Hashable, Sendable {
  /// The system gave no random bytes. Nothing may be generated until it does.
  case noRandomness
  /// A key or signature has another size than its kind has, in bytes.
  case wrongLength(expected: Int, found: Int)
  /// A private scalar is zero or not below the order of the curve.
  case scalarOutOfRange
  /// A public key is no compressed point of the curve.
  case notOnCurve
  /// A signature has the upper of its two possible s values, which would give one message two encodings.
  case signatureNotLow
  /// A signature does not belong to this key and digest.
  case signatureRejected
  /// What was sealed, or an authentication code, does not belong to this key and these bytes.
  case authenticationFailed
  /// A public key of X25519 that gives everybody the same shared secret.
  case lowOrderPoint
  /// Parameters of a key derivation that are not allowed or need more memory than is.
  case parametersOutOfRange
  /// libcrypto failed at something that fails only without memory or without its provider; `code` is its own.
  case library(Operation, code: UInt)

  package enum Operation: String, Hashable, Sendable {
    case digest, curve, importPrivate, importPublic, exportPrivate, sign, verify, agree, cipher, mac, keyDerivation
  }

  /// Takes the oldest reason out of libcrypto's per-thread queue and empties the queue, so that the next failure
  /// is not told with this one's reason.
  static func taken(from operation: Operation) -> PrimitiveError {
    let code = ERR_get_error()
    ERR_clear_error()
    return .library(operation, code: code)
  }
}
