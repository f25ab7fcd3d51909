internal import CCrypto

/// HKDF with SHA-256 (RFC 5869). One owner at a time; allocates in `init` only.
package struct HKDFSHA256: ~Copyable, Sendable {
  /// Size of an extracted key in bytes.
  package static let byteCount = 32
  /// Most bytes one expansion gives (RFC 5869 section 2.3).
  package static let largestByteCount = 255 * 32

  private var hmac: HMACSHA256

  package init() throws(PrimitiveError) { hmac = try HMACSHA256() }

  /// Writes the pseudorandom key of `input` into `output`, which is 32 bytes.
  package mutating func extract(
    salt: RawSpan, input: RawSpan, into output: inout MutableRawSpan
  ) throws(PrimitiveError) {
    try hmac.start(key: salt)
    try hmac.update(input)
    try hmac.finish(into: &output)
  }

  /// Fills `output`, at most 8,160 bytes.
  package mutating func expand(
    _ key: RawSpan, info: RawSpan, into output: inout MutableRawSpan
  ) throws(PrimitiveError) {
    let count = output.byteCount
    guard count <= Self.largestByteCount else {
      throw .wrongLength(expected: Self.largestByteCount, found: count)
    }
    let isFilled = unsafe output.withUnsafeMutableBytes { unsafe fill($0, key: key, info: info) }
    guard isFilled else { throw .taken(from: .mac) }
  }

  /// T(1), T(2) and so on, each from the one before it, which already stands in the output.
  private mutating func fill(_ output: UnsafeMutableRawBufferPointer, key: RawSpan, info: RawSpan) -> Bool {
    var filled = 0
    var number: UInt8 = 0
    while filled < output.count {
      number &+= 1
      guard hmac.begin(key) else { return false }
      if filled > 0 {
        let previous = unsafe UnsafeRawBufferPointer(rebasing: output[filled - Self.byteCount..<filled])
        guard unsafe hmac.add(RawSpan(_unsafeBytes: previous)) else { return false }
      }
      guard hmac.add(info) else { return false }
      let isAdded = unsafe withUnsafeBytes(of: number) { unsafe hmac.add(RawSpan(_unsafeBytes: $0)) }
      guard isAdded else { return false }
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: output[filled...])
      if rest.count >= Self.byteCount {
        guard unsafe hmac.end(UnsafeMutableRawBufferPointer(rebasing: rest[..<Self.byteCount])) else { return false }
        filled += Self.byteCount
      } else {
        var last = Secret(count: Self.byteCount) { _ in }
        var code = last.mutableBytes
        guard unsafe code.withUnsafeMutableBytes({ unsafe hmac.end($0) }) else { return false }
        unsafe last.bytes.withUnsafeBytes {
          unsafe rest.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<rest.count]))
        }
        filled += rest.count
      }
    }
    return true
  }

  /// Extraction and expansion in one: `count` bytes from `input`.
  package static func derive(
    _ count: Int, from input: RawSpan, salt: RawSpan, info: RawSpan
  ) throws(PrimitiveError) -> Secret {
    var hkdf = try HKDFSHA256()
    let key = try Secret(count: byteCount) { (span) throws(PrimitiveError) in
      try hkdf.extract(salt: salt, input: input, into: &span)
    }
    return try Secret(count: count) { (span) throws(PrimitiveError) in
      try hkdf.expand(key.bytes, info: info, into: &span)
    }
  }
}
