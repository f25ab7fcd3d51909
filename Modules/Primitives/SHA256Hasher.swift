internal import Bytes
internal import CCrypto

/// SHA-256 with one context that is set back instead of made anew. One owner at a time.
///
/// `update` any number of times, then `finish`, and again. Allocates in `init` only.
@safe
package struct SHA256Hasher: ~Copyable, @unchecked Sendable {
  // Sendable is sound: the context has one owner, and `mutating` keeps its use exclusive.
  private let context: OpaquePointer
  /// Where a label and what follows it are put side by side: one update of short bytes is cheaper than two.
  private let scratch: UnsafeMutableRawBufferPointer
  private var isFinished = false

  package init() throws(PrimitiveError) {
    guard let context = unsafe EVP_MD_CTX_new() else { throw .taken(from: .digest) }
    guard unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      unsafe EVP_MD_CTX_free(context)
      throw .taken(from: .digest)
    }
    unsafe self.context = context
    unsafe scratch = .allocate(byteCount: PrimitivesLimits.hashScratchByteCount, alignment: 16)
  }

  deinit {
    unsafe EVP_MD_CTX_free(context)
    unsafe scratch.deallocate()
  }

  /// Hashes `bytes` behind what came before.
  package mutating func update(_ bytes: RawSpan) throws(PrimitiveError) {
    guard unsafe bytes.withUnsafeBytes({ unsafe add($0) }) else { throw .taken(from: .digest) }
  }

  package mutating func update(_ bytes: [UInt8]) throws(PrimitiveError) {
    try update(bytes.rawSpan)
  }

  package mutating func update(_ secret: borrowing Secret) throws(PrimitiveError) {
    try update(secret.bytes)
  }

  /// Hashes the UTF-8 bytes of a domain label.
  package mutating func update(label: DomainLabel) throws(PrimitiveError) {
    let text = label.text
    let bytes = unsafe UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    guard unsafe add(bytes) else { throw .taken(from: .digest) }
  }

  /// The digest of everything since the last `finish`; the hasher is empty afterwards.
  package mutating func finish() throws(PrimitiveError) -> SHA256Digest {
    guard resume() else { throw .taken(from: .digest) }
    isFinished = true
    var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    let succeeded = unsafe withUnsafeMutableBytes(of: &words) {
      unsafe EVP_DigestFinal_ex(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
    }
    guard succeeded else { throw .taken(from: .digest) }
    return SHA256Digest(
      first: UInt64(bigEndian: words.0), second: UInt64(bigEndian: words.1),
      third: UInt64(bigEndian: words.2), fourth: UInt64(bigEndian: words.3))
  }

  /// Writes the digest of everything since the last `finish` into `output`, which is 32 bytes.
  package mutating func finish(into output: inout MutableRawSpan) throws(PrimitiveError) {
    guard output.byteCount == SHA256.byteCount else {
      throw .wrongLength(expected: SHA256.byteCount, found: output.byteCount)
    }
    guard resume() else { throw .taken(from: .digest) }
    isFinished = true
    let context = unsafe context
    let succeeded = unsafe output.withUnsafeMutableBytes {
      unsafe EVP_DigestFinal_ex(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) == 1
    }
    guard succeeded else { throw .taken(from: .digest) }
  }

  /// Writes the digest of everything since the last `finish` into the first 32 bytes of `output`.
  package mutating func finish(into output: inout Secret) throws(PrimitiveError) {
    let memory = unsafe output.mutablePointer
    guard memory.count >= SHA256.byteCount, resume() else { throw .taken(from: .digest) }
    isFinished = true
    let start = unsafe memory.baseAddress?.assumingMemoryBound(to: UInt8.self)
    guard unsafe EVP_DigestFinal_ex(context, start, nil) == 1 else { throw .taken(from: .digest) }
  }

  /// The digest of `label` followed by `bytes`; anything unfinished before is discarded.
  package mutating func digest(label: DomainLabel, _ bytes: RawSpan) throws(PrimitiveError) -> SHA256Digest {
    isFinished = true
    let text = label.text
    let labelByteCount = text.utf8CodeUnitCount
    if labelByteCount + bytes.byteCount <= PrimitivesLimits.hashScratchByteCount {
      let succeeded = unsafe bytes.withUnsafeBytes { source in
        unsafe scratch.baseAddress?.copyMemory(from: text.utf8Start, byteCount: labelByteCount)
        unsafe UnsafeMutableRawBufferPointer(rebasing: scratch[labelByteCount...]).copyMemory(from: source)
        return unsafe add(UnsafeRawBufferPointer(rebasing: scratch[..<(labelByteCount + source.count)]))
      }
      guard succeeded else { throw .taken(from: .digest) }
    } else {
      try update(label: label)
      try update(bytes)
    }
    return try finish()
  }

  private mutating func add(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard resume() else { return false }
    return unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
  }

  /// Sets a finished context back. No type is named: the context keeps SHA-256 and its memory.
  private mutating func resume() -> Bool {
    guard isFinished else { return true }
    guard unsafe EVP_DigestInit_ex(context, nil, nil) == 1 else { return false }
    isFinished = false
    return true
  }
}
