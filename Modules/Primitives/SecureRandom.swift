internal import CCrypto

/// Random bytes from libcrypto's generator, which the kernel seeds. Failure is an error, never a weaker number.
package enum SecureRandom {
  /// `count` unpredictable bytes that need no wiping: nonces, tokens.
  package static func bytes(_ count: Int) throws(PrimitiveError) -> [UInt8] {
    guard count > 0 else { return [] }
    var succeeded = false
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      succeeded = unsafe fill(UnsafeMutableRawBufferPointer(buffer))
      filled = succeeded ? count : 0
    }
    guard succeeded else { throw .noRandomness }
    return bytes
  }

  /// `count` unpredictable bytes in wiped memory: keys.
  package static func secret(_ count: Int) throws(PrimitiveError) -> Secret {
    try Secret(count: count) { (span) throws(PrimitiveError) in
      guard unsafe span.withUnsafeMutableBytes({ unsafe fill($0) }) else { throw .noRandomness }
    }
  }

  static func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Bool {
    guard let size = Int32(exactly: buffer.count) else { return false }
    guard size > 0 else { return true }
    guard let base = buffer.baseAddress else { return false }
    let succeeded = unsafe RAND_bytes(base.assumingMemoryBound(to: UInt8.self), size) == 1
    if !succeeded { ERR_clear_error() }
    return succeeded
  }
}
