internal import CCrypto

/// HMAC with SHA-256 (RFC 2104) of many short messages under one key: both paddings of the key are hashed once, so a
/// message of one block costs two or three compressions and no allocation. What is kept of the key is wiped at the end.
@safe
package struct KeyedHMACSHA256: ~Copyable, @unchecked Sendable {
  // Sendable is sound: the memory has one owner and is written in `init` and `deinit` only.
  /// The states behind the inner and the outer padding, then one for the message at hand.
  private let states: UnsafeMutablePointer<SHA256_CTX>
  private static let blockByteCount = 64
  private static let stateCount = 3

  /// `key` is at most 64 bytes; a longer one would have to be hashed first and is refused.
  package init(key: RawSpan) throws(PrimitiveError) {
    guard key.byteCount <= Self.blockByteCount else {
      throw .wrongLength(expected: Self.blockByteCount, found: key.byteCount)
    }
    let states = UnsafeMutablePointer<SHA256_CTX>.allocate(capacity: Self.stateCount)
    unsafe states.initialize(repeating: SHA256_CTX(), count: Self.stateCount)
    for (index, padding) in [UInt8(0x36), 0x5C].enumerated() {
      let block = Secret(count: Self.blockByteCount) { span in
        for offset in 0..<Self.blockByteCount {
          let byte = offset < key.byteCount ? unsafe key.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : 0
          span.storeBytes(of: byte ^ padding, toByteOffset: offset, as: UInt8.self)
        }
      }
      let isHashed = unsafe block.bytes.withUnsafeBytes { bytes in
        unsafe SHA256_Init(states + index) == 1 && SHA256_Update(states + index, bytes.baseAddress, bytes.count) == 1
      }
      guard isHashed else {
        unsafe Self.wipe(states)
        throw .taken(from: .mac)
      }
    }
    unsafe self.states = states
  }

  deinit { unsafe Self.wipe(states) }

  /// Writes the code of `message` into the first 32 bytes of `code`.
  package mutating func authenticate(_ message: RawSpan, into code: inout Secret) throws(PrimitiveError) {
    let output = unsafe code.mutablePointer
    guard output.count >= SHA256.byteCount, let start = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    else { throw .wrongLength(expected: SHA256.byteCount, found: output.count) }
    let state = unsafe states + 2
    unsafe state.update(from: states, count: 1)
    let isHashed = unsafe message.withUnsafeBytes { message in
      unsafe SHA256_Update(state, message.baseAddress, message.count) == 1
    }
    guard isHashed, unsafe SHA256_Final(start, state) == 1 else { throw .taken(from: .mac) }
    unsafe state.update(from: states + 1, count: 1)
    guard unsafe SHA256_Update(state, start, SHA256.byteCount) == 1, unsafe SHA256_Final(start, state) == 1 else {
      throw .taken(from: .mac)
    }
  }

  private static func wipe(_ states: UnsafeMutablePointer<SHA256_CTX>) {
    unsafe OPENSSL_cleanse(states, stateCount * MemoryLayout<SHA256_CTX>.stride)
    unsafe states.deallocate()
  }
}
