internal import Bytes
internal import CCrypto

/// A libcrypto key that lives as long as its Swift owner, so that a key is imported once and used often.
@safe
final class P256KeyHandle: @unchecked Sendable {
  // Sendable is sound: libcrypto counts references atomically and only reads a finished key.
  let pointer: OpaquePointer
  /// The public point, compressed.
  let publicBytes: [UInt8]

  private init(taking pointer: OpaquePointer, publicBytes: [UInt8]) {
    unsafe self.pointer = pointer
    self.publicBytes = publicBytes
  }

  deinit { unsafe EVP_PKEY_free(pointer) }

  /// Refuses what is not 33 bytes of a compressed point on the curve; infinity has no such form.
  static func importPublic(_ bytes: RawSpan) throws(PrimitiveError) -> P256KeyHandle {
    guard bytes.byteCount == P256.publicKeyByteCount else {
      throw .wrongLength(expected: P256.publicKeyByteCount, found: bytes.byteCount)
    }
    let curve = try P256Curve.get(.importPublic)
    guard let point = unsafe EC_POINT_new(curve.group) else { throw .taken(from: .importPublic) }
    defer { unsafe EC_POINT_free(point) }
    var copy = [UInt8](copying: bytes)
    guard copy[0] == 2 || copy[0] == 3, unsafe EC_POINT_oct2point(curve.group, point, copy, copy.count, nil) == 1
    else {
      ERR_clear_error()
      throw .notOnCurve
    }
    let pointer = unsafe copy.withUnsafeMutableBytes { unsafe make(.importPublic, publicKey: $0, scalar: nil) }
    guard let pointer = unsafe pointer else { throw .taken(from: .importPublic) }
    return unsafe P256KeyHandle(taking: pointer, publicBytes: copy)
  }

  /// Refuses a scalar that is not 32 bytes, is zero, or is not below the order.
  static func importPrivate(_ scalar: RawSpan) throws(PrimitiveError) -> P256KeyHandle {
    guard scalar.byteCount == P256.scalarByteCount else {
      throw .wrongLength(expected: P256.scalarByteCount, found: scalar.byteCount)
    }
    let curve = try P256Curve.get(.importPrivate)
    guard let number = unsafe BN_secure_new() else { throw .taken(from: .importPrivate) }
    defer { unsafe BN_clear_free(number) }
    let isLoaded = unsafe scalar.withUnsafeBytes {
      unsafe BN_bin2bn($0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count), number) != nil
    }
    guard isLoaded else { throw .taken(from: .importPrivate) }
    guard unsafe BN_is_zero(number) == 0, unsafe BN_cmp(number, curve.order) < 0 else { throw .scalarOutOfRange }

    var publicBytes = unsafe try publicPoint(of: number, on: curve)
    // libcrypto takes numbers in parameters with the low byte first.
    let reversed = Secret(count: P256.scalarByteCount) { span in
      for index in 0..<P256.scalarByteCount {
        let byte = scalar.byte(at: P256.scalarByteCount - 1 - index) ?? 0
        span.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    }
    let pointer = unsafe publicBytes.withUnsafeMutableBytes { point in
      unsafe reversed.bytes.withUnsafeBytes { low in
        unsafe make(.importPrivate, publicKey: point, scalar: UnsafeMutableRawBufferPointer(mutating: low))
      }
    }
    guard let pointer = unsafe pointer else { throw .taken(from: .importPrivate) }
    return unsafe P256KeyHandle(taking: pointer, publicBytes: publicBytes)
  }

  /// Draws scalars until one is in range, which the first is but once in 2^32.
  static func generate(from random: RandomSource) throws(PrimitiveError) -> P256KeyHandle {
    for _ in 0..<PrimitivesLimits.scalarAttempts {
      let scalar = try random.secret(P256.scalarByteCount)
      do { return try importPrivate(scalar.bytes) } catch .scalarOutOfRange { continue }
    }
    throw .noRandomness
  }

  /// The public half as a key of its own.
  func publicKey() throws(PrimitiveError) -> P256PublicKey {
    let bytes = publicBytes
    return try P256PublicKey(bytes.rawSpan)
  }

  /// The private scalar, 32 bytes big endian.
  func exportScalar() throws(PrimitiveError) -> Secret {
    var number: OpaquePointer? = unsafe BN_secure_new()
    defer { unsafe BN_clear_free(number) }
    guard unsafe EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_PRIV_KEY, &number) == 1 else {
      throw .taken(from: .exportPrivate)
    }
    return try Secret(count: P256.scalarByteCount) { (span) throws(PrimitiveError) in
      let written = unsafe span.withUnsafeMutableBytes {
        unsafe BN_bn2binpad(number, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count))
      }
      guard written == P256.scalarByteCount else { throw .taken(from: .exportPrivate) }
    }
  }

  // EVP_PKEY_PUBLIC_KEY and EVP_PKEY_KEYPAIR are built of casts, which Swift does not import.
  private static let publicSelection =
    OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
  private static let pairSelection = publicSelection | OSSL_KEYMGMT_SELECT_PRIVATE_KEY

  private static func publicPoint(
    of scalar: OpaquePointer, on curve: P256Curve
  ) throws(PrimitiveError) -> [UInt8] {
    guard let point = unsafe EC_POINT_new(curve.group) else { throw .taken(from: .importPrivate) }
    defer { unsafe EC_POINT_free(point) }
    guard unsafe EC_POINT_mul(curve.group, point, scalar, nil, nil, nil) == 1 else {
      throw .taken(from: .importPrivate)
    }
    var bytes = [UInt8](repeating: 0, count: P256.publicKeyByteCount)
    let written = unsafe EC_POINT_point2oct(
      curve.group, point, POINT_CONVERSION_COMPRESSED, &bytes, bytes.count, nil)
    guard written == bytes.count else { throw .taken(from: .importPrivate) }
    return bytes
  }

  private static func make(
    _ operation: PrimitiveError.Operation, publicKey: UnsafeMutableRawBufferPointer,
    scalar: UnsafeMutableRawBufferPointer?
  ) -> OpaquePointer? {
    guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
    defer { unsafe EVP_PKEY_CTX_free(context) }
    guard unsafe EVP_PKEY_fromdata_init(context) == 1 else { return nil }
    // libcrypto keeps these pointers until the import is done, so they point at literals and not at Swift strings.
    let group = unsafe UnsafeMutablePointer(mutating: literal("prime256v1"))
    var parameters = unsafe [
      OSSL_PARAM_construct_utf8_string(literal("group"), group, 0),
      OSSL_PARAM_construct_octet_string(literal("pub"), publicKey.baseAddress, publicKey.count),
    ]
    var selection = publicSelection
    if let scalar = unsafe scalar {
      selection = pairSelection
      let number = unsafe scalar.baseAddress?.assumingMemoryBound(to: UInt8.self)
      unsafe parameters.append(OSSL_PARAM_construct_BN(literal("priv"), number, scalar.count))
    }
    unsafe parameters.append(OSSL_PARAM_construct_end())
    var key: OpaquePointer?
    guard unsafe EVP_PKEY_fromdata(context, &key, selection, &parameters) == 1 else { return nil }
    return unsafe key
  }

  private static func literal(_ text: StaticString) -> UnsafePointer<CChar> {
    unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}
