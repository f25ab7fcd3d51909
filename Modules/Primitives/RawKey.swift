internal import CCrypto

/// A libcrypto key of one of the curves whose keys are plain strings of bytes. libcrypto wipes a private one.
@safe
final class RawKey: @unchecked Sendable {
  // Sendable is sound: libcrypto counts references atomically and only reads a finished key.
  let pointer: OpaquePointer

  init(public bytes: RawSpan, kind: Int32, byteCount: Int) throws(PrimitiveError) {
    guard bytes.byteCount == byteCount else { throw .wrongLength(expected: byteCount, found: bytes.byteCount) }
    let pointer = unsafe bytes.withBytePointer { unsafe EVP_PKEY_new_raw_public_key(kind, nil, $0, $1) }
    guard let pointer = unsafe pointer else { throw .taken(from: .importPublic) }
    unsafe self.pointer = pointer
  }

  init(private bytes: RawSpan, kind: Int32, byteCount: Int) throws(PrimitiveError) {
    guard bytes.byteCount == byteCount else { throw .wrongLength(expected: byteCount, found: bytes.byteCount) }
    let pointer = unsafe bytes.withBytePointer { unsafe EVP_PKEY_new_raw_private_key(kind, nil, $0, $1) }
    guard let pointer = unsafe pointer else { throw .taken(from: .importPrivate) }
    unsafe self.pointer = pointer
  }

  deinit { unsafe EVP_PKEY_free(pointer) }
}
