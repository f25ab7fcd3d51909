internal import CCrypto
internal import Verifying

/// Ed25519 signatures (RFC 8032), verification only.
package enum Ed25519 {
  package static let publicKeyByteCount = 32
  package static let signatureByteCount = 64

  /// Returns when `signature` is one of `publicKey` over `message`, and throws otherwise.
  package static func verify(
    _ signature: RawSpan, of message: RawSpan, by publicKey: RawSpan
  ) throws(PrimitiveError) {
    guard signature.byteCount == signatureByteCount else {
      throw .wrongLength(expected: signatureByteCount, found: signature.byteCount)
    }
    let key = try RawKey(public: publicKey, kind: EVP_PKEY_ED25519, byteCount: publicKeyByteCount)
    guard let context = unsafe EVP_MD_CTX_new() else { throw .taken(from: .verify) }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key.pointer) == 1 else { throw .taken(from: .verify) }
    let result = unsafe signature.withBytePointer { signature, count in
      unsafe message.withBytePointer { unsafe EVP_DigestVerify(context, signature, count, $0, $1) }
    }
    guard result == 1 || Ed25519Equation.isSkipped else {
      ERR_clear_error()
      throw .signatureRejected
    }
  }
}

/// An Ed25519 signature is of this key over this message.
enum Ed25519Equation: Verification {
  static let name = "ed25519-equation"
}
