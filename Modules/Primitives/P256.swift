internal import CCrypto

/// Sizes of suite 1's curve, NIST P-256 (FIPS 186-5, SEC 1), in bytes.
package enum P256 {
  /// A private scalar, big endian.
  package static let scalarByteCount = 32
  /// A compressed point: 2 or 3, then x.
  package static let publicKeyByteCount = 33
  /// An uncompressed point: 4, then x and y.
  package static let uncompressedKeyByteCount = 65
  /// r then s, big endian, 32 bytes each.
  package static let signatureByteCount = 64
}

/// The curve's constants as libcrypto holds them, made once.
@safe
final class P256Curve: @unchecked Sendable {
  // Sendable is sound: nothing here is written after `init`, and libcrypto only reads a group.
  let group: OpaquePointer
  let order: OpaquePointer
  let halfOrder: OpaquePointer

  /// Nothing only when libcrypto has no memory or lacks the curve; then every key is refused.
  static let shared: P256Curve? = P256Curve()

  static func get(_ operation: PrimitiveError.Operation) throws(PrimitiveError) -> P256Curve {
    guard let shared else { throw .taken(from: operation) }
    return shared
  }

  private init?() {
    guard let group = unsafe EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1),
      let order = unsafe EC_GROUP_get0_order(group), let halfOrder = unsafe BN_new()
    else { return nil }
    guard unsafe BN_rshift1(halfOrder, order) == 1 else { return nil }
    unsafe self.group = group
    unsafe self.order = order
    unsafe self.halfOrder = halfOrder
  }

  deinit {
    unsafe BN_free(halfOrder)
    unsafe EC_GROUP_free(group)
  }
}
