internal import Bytes
internal import CCrypto
internal import Synchronization

/// A point of the curve, checked once, with what libcrypto needs to multiply it and, from the first time it is asked
/// for, to verify with it.
@safe
final class P256Point: @unchecked Sendable {
  // Sendable is sound: the point is not written after `init`, and the key appears by one atomic exchange.
  let pointer: OpaquePointer
  /// 4, x, y: 65 bytes.
  let bytes: [UInt8]
  /// Address of the key that verifies, or 0 before it is needed: most points only ever agree.
  private let key = Atomic<UInt>(0)

  /// `pointer` is owned from here on.
  init(taking pointer: OpaquePointer, bytes: [UInt8]) {
    unsafe self.pointer = pointer
    self.bytes = bytes
  }

  deinit {
    unsafe EC_POINT_free(pointer)
    unsafe EVP_PKEY_free(OpaquePointer(bitPattern: key.load(ordering: .acquiring)))
  }

  /// Refuses what is not a point of the curve in the form that `head` says: 2 or 3 for 33 bytes, 4 for 65. Infinity has
  /// no such form.
  convenience init(_ bytes: RawSpan, byteCount: Int) throws(PrimitiveError) {
    guard bytes.byteCount == byteCount else { throw .wrongLength(expected: byteCount, found: bytes.byteCount) }
    let isCompressed = byteCount == P256.publicKeyByteCount
    let head = bytes.byte(at: 0) ?? 0
    guard isCompressed ? head == 2 || head == 3 : head == 4 else { throw .notOnCurve }
    let curve = try P256Curve.get(.importPublic)
    guard let point = unsafe EC_POINT_new(curve.group) else { throw .taken(from: .importPublic) }
    guard unsafe bytes.withBytePointer({ unsafe EC_POINT_oct2point(curve.group, point, $0, $1, nil) }) == 1 else {
      unsafe EC_POINT_free(point)
      ERR_clear_error()
      throw .notOnCurve
    }
    if isCompressed {
      do throws(PrimitiveError) {
        let uncompressed = unsafe try Self.encode(point, on: curve, .importPublic)
        unsafe self.init(taking: point, bytes: uncompressed)
      } catch {
        unsafe EC_POINT_free(point)
        throw error
      }
    } else {
      unsafe self.init(taking: point, bytes: [UInt8](copying: bytes))
    }
  }

  /// 4, x, y of a point.
  static func encode(
    _ point: OpaquePointer, on curve: P256Curve, _ operation: PrimitiveError.Operation
  ) throws(PrimitiveError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: P256.uncompressedKeyByteCount)
    let written = unsafe EC_POINT_point2oct(
      curve.group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil)
    guard written == bytes.count else { throw .taken(from: operation) }
    return bytes
  }

  /// 2 or 3 for an even or odd y, then x: 33 bytes.
  var compressed: [UInt8] {
    [2 | (bytes[bytes.count - 1] & 1)] + bytes[1...P256.scalarByteCount]
  }

  /// The key that verifies signatures. It lives as long as the point.
  func verificationKey() throws(PrimitiveError) -> OpaquePointer {
    if let made = unsafe OpaquePointer(bitPattern: key.load(ordering: .acquiring)) { return unsafe made }
    var copy = bytes
    let made = unsafe copy.withUnsafeMutableBytes { unsafe P256KeyHandle.make(publicKey: $0, scalar: nil) }
    guard let made = unsafe made else { throw .taken(from: .importPublic) }
    let (isFirst, other) = key.compareExchange(
      expected: 0, desired: UInt(bitPattern: made), ordering: .acquiringAndReleasing)
    if isFirst { return unsafe made }
    unsafe EVP_PKEY_free(made)
    guard let winner = unsafe OpaquePointer(bitPattern: other) else { throw .taken(from: .importPublic) }
    return unsafe winner
  }
}
