internal import Bytes
internal import CCrypto

/// A private number of the curve, wiped when its last owner goes.
@safe
final class P256Scalar: @unchecked Sendable {
  // Sendable is sound: libcrypto only reads a finished number.
  let pointer: OpaquePointer

  deinit { unsafe BN_clear_free(pointer) }

  /// Refuses a scalar that is not 32 bytes, is zero, or is not below the order.
  init(_ bytes: RawSpan, on curve: P256Curve) throws(PrimitiveError) {
    guard bytes.byteCount == P256.scalarByteCount else {
      throw .wrongLength(expected: P256.scalarByteCount, found: bytes.byteCount)
    }
    guard let number = unsafe BN_secure_new() else { throw .taken(from: .importPrivate) }
    let isLoaded = unsafe bytes.withBytePointer { unsafe BN_bin2bn($0, Int32($1), number) != nil }
    let isInRange = unsafe isLoaded && BN_is_zero(number) == 0 && BN_cmp(number, curve.order) < 0
    guard isInRange else {
      unsafe BN_clear_free(number)
      throw isLoaded ? .scalarOutOfRange : .taken(from: .importPrivate)
    }
    unsafe BN_set_flags(number, BN_FLG_CONSTTIME)
    unsafe pointer = number
  }

  /// Draws until one is in range, which the first is but once in 2^32.
  static func generate(from random: RandomSource, on curve: P256Curve) throws(PrimitiveError) -> P256Scalar {
    for _ in 0..<PrimitivesLimits.scalarAttempts {
      let bytes = try random.secret(P256.scalarByteCount)
      do { return try P256Scalar(bytes.bytes, on: curve) } catch .scalarOutOfRange { continue }
    }
    throw .noRandomness
  }

  /// The scalar times the generator.
  func publicPoint(on curve: P256Curve) throws(PrimitiveError) -> P256Point {
    guard let point = unsafe EC_POINT_new(curve.group) else { throw .taken(from: .importPrivate) }
    do throws(PrimitiveError) {
      guard unsafe EC_POINT_mul(curve.group, point, pointer, nil, nil, nil) == 1 else {
        throw .taken(from: .importPrivate)
      }
      let bytes = unsafe try P256Point.encode(point, on: curve, .importPrivate)
      return unsafe P256Point(taking: point, bytes: bytes)
    } catch {
      unsafe EC_POINT_free(point)
      throw error
    }
  }

  /// 32 bytes big endian.
  func export() throws(PrimitiveError) -> Secret {
    let number = unsafe pointer
    return try Secret(count: P256.scalarByteCount) { (span) throws(PrimitiveError) in
      let written = unsafe span.withUnsafeMutableBytes {
        unsafe BN_bn2binpad(number, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count))
      }
      guard written == P256.scalarByteCount else { throw .taken(from: .exportPrivate) }
    }
  }
}
