internal import Bytes
internal import CCrypto
internal import Verifying

/// ECDSA over P-256 and SHA-256 (FIPS 186-5) with signatures of exactly 64 bytes, r ‖ s big endian, s in the lower
/// half of the order.
///
/// For every valid (r, s), (r, order − s) is valid too. One message would have two encodings, and thereby two packet
/// IDs, so the upper half is never made and never accepted.
package enum ECDSA {
  /// 64 bytes over a digest.
  package static func sign(
    _ digest: SHA256Digest, with key: borrowing P256SigningKey
  ) throws(PrimitiveError) -> [UInt8] {
    let curve = try P256Curve.get(.sign)
    guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.handle.pointer, nil) else {
      throw .taken(from: .sign)
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_sign_init(context) == 1 else { throw .taken(from: .sign) }
    var encoded = [UInt8](repeating: 0, count: derByteCount)
    var length = encoded.count
    let digestBytes = digest.bytes
    guard unsafe EVP_PKEY_sign(context, &encoded, &length, digestBytes, digestBytes.count) == 1 else {
      throw .taken(from: .sign)
    }
    return try raw(encoded, length: length, on: curve)
  }

  /// Returns when `signature` is one of `key` over `digest`, and throws otherwise: there is no result to forget.
  package static func verify(
    _ signature: RawSpan, of digest: SHA256Digest, by key: P256PublicKey
  ) throws(PrimitiveError) {
    guard signature.byteCount == P256.signatureByteCount else {
      throw .wrongLength(expected: P256.signatureByteCount, found: signature.byteCount)
    }
    let curve = try P256Curve.get(.verify)
    let encoded = try der([UInt8](copying: signature), on: curve)
    guard let context = try unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.point.verificationKey(), nil) else {
      throw .taken(from: .verify)
    }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_verify_init(context) == 1 else { throw .taken(from: .verify) }
    let digestBytes = digest.bytes
    guard unsafe EVP_PKEY_verify(context, encoded, encoded.count, digestBytes, digestBytes.count) == 1 else {
      ERR_clear_error()
      guard SignatureEquation.isSkipped else { throw .signatureRejected }
      return
    }
  }

  /// Longest DER form of a P-256 signature: a sequence of two integers of 33 bytes, with their heads.
  private static let derByteCount = 72

  private static func raw(
    _ encoded: [UInt8], length: Int, on curve: P256Curve
  ) throws(PrimitiveError) -> [UInt8] {
    let signature = unsafe encoded.withUnsafeBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return unsafe d2i_ECDSA_SIG(nil, &cursor, length)
    }
    guard let signature = unsafe signature else { throw .taken(from: .sign) }
    defer { unsafe ECDSA_SIG_free(signature) }
    guard let r = unsafe ECDSA_SIG_get0_r(signature), let s = unsafe ECDSA_SIG_get0_s(signature),
      let low = unsafe BN_dup(s)
    else { throw .taken(from: .sign) }
    defer { unsafe BN_free(low) }
    if unsafe BN_cmp(low, curve.halfOrder) > 0 {
      guard unsafe BN_sub(low, curve.order, s) == 1 else { throw .taken(from: .sign) }
    }
    var bytes = [UInt8](repeating: 0, count: P256.signatureByteCount)
    let isWritten = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      guard let base = buffer.baseAddress else { return false }
      return unsafe BN_bn2binpad(r, base, 32) == 32 && BN_bn2binpad(low, base + 32, 32) == 32
    }
    guard isWritten else { throw .taken(from: .sign) }
    return bytes
  }

  private static func der(_ raw: [UInt8], on curve: P256Curve) throws(PrimitiveError) -> [UInt8] {
    guard let signature = unsafe ECDSA_SIG_new() else { throw .taken(from: .verify) }
    defer { unsafe ECDSA_SIG_free(signature) }
    let numbers = unsafe raw.withUnsafeBufferPointer { buffer -> (r: OpaquePointer?, s: OpaquePointer?) in
      guard let base = buffer.baseAddress else { return (nil, nil) }
      return unsafe (BN_bin2bn(base, 32, nil), BN_bin2bn(base + 32, 32, nil))
    }
    guard let r = unsafe numbers.r, let s = unsafe numbers.s else {
      unsafe BN_free(numbers.r)
      unsafe BN_free(numbers.s)
      throw .taken(from: .verify)
    }
    let isLow = unsafe BN_cmp(s, curve.halfOrder) <= 0
    // From here on the signature owns both numbers.
    guard unsafe ECDSA_SIG_set0(signature, r, s) == 1 else {
      unsafe BN_free(r)
      unsafe BN_free(s)
      throw .taken(from: .verify)
    }
    guard isLow || SignatureLowHalf.isSkipped else { throw .signatureNotLow }
    var encoded = [UInt8](repeating: 0, count: derByteCount)
    let length = unsafe encoded.withUnsafeMutableBufferPointer { buffer in
      var cursor = buffer.baseAddress
      return unsafe i2d_ECDSA_SIG(signature, &cursor)
    }
    guard length > 0, length <= derByteCount else { throw .taken(from: .verify) }
    encoded.removeLast(derByteCount - Int(length))
    return encoded
  }
}

/// A signature is one of the key over the digest.
enum SignatureEquation: Verification {
  static let name = "signature-equation"
}

/// The s of a signature is in the lower half of the order, so that there is one encoding.
enum SignatureLowHalf: Verification {
  static let name = "signature-low-half"
}
