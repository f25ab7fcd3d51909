internal import Bytes
internal import CCrypto

/// A libcrypto key that signs. It lives as long as its Swift owner, so that a key is imported once and used often.
@safe
final class P256KeyHandle: @unchecked Sendable {
  // Sendable is sound: libcrypto counts references atomically and only reads a finished key.
  let pointer: OpaquePointer
  private let scalar: P256Scalar
  let point: P256Point

  deinit { unsafe EVP_PKEY_free(pointer) }

  init(_ scalar: P256Scalar, on curve: P256Curve) throws(PrimitiveError) {
    let point = try scalar.publicPoint(on: curve)
    let exported = try scalar.export()
    // libcrypto takes numbers in parameters with the low byte first.
    let reversed = Secret(count: P256.scalarByteCount) { span in
      for index in 0..<P256.scalarByteCount {
        let byte = exported.bytes.byte(at: P256.scalarByteCount - 1 - index) ?? 0
        span.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    }
    var publicBytes = point.bytes
    let pointer = unsafe publicBytes.withUnsafeMutableBytes { publicBytes in
      unsafe reversed.bytes.withUnsafeBytes { low in
        unsafe Self.make(publicKey: publicBytes, scalar: UnsafeMutableRawBufferPointer(mutating: low))
      }
    }
    guard let pointer = unsafe pointer else { throw .taken(from: .importPrivate) }
    unsafe self.pointer = pointer
    self.scalar = scalar
    self.point = point
  }

  /// The private scalar, 32 bytes big endian.
  func exportScalar() throws(PrimitiveError) -> Secret { try scalar.export() }

  // EVP_PKEY_PUBLIC_KEY and EVP_PKEY_KEYPAIR are built of casts, which Swift does not import.
  private static let publicSelection =
    OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_OTHER_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
  private static let pairSelection = publicSelection | OSSL_KEYMGMT_SELECT_PRIVATE_KEY

  /// Nothing when libcrypto fails. The caller owns what it gets.
  static func make(
    publicKey: UnsafeMutableRawBufferPointer, scalar: UnsafeMutableRawBufferPointer?
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
