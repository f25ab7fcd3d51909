/// HKDF with SHA-256 (RFC 5869). One owner at a time; allocates in `init` only, but for a last part that is no whole
/// block.
package struct HKDFSHA256: ~Copyable, Sendable {
  /// Size of an extracted key in bytes.
  package static let byteCount = 32
  /// Most bytes one expansion gives (RFC 5869 section 2.3).
  package static let largestByteCount = 255 * 32

  private var hmac: HMACSHA256
  /// The key between extraction and expansion, in memory that is there already.
  private var extracted = Secret(count: Self.byteCount) { _ in }

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
    guard output.byteCount <= Self.largestByteCount else {
      throw .wrongLength(expected: Self.largestByteCount, found: output.byteCount)
    }
    let isFilled = unsafe output.withUnsafeMutableBytes { unsafe Self.fill($0, key: key, info: info, with: &hmac) }
    guard isFilled else { throw .taken(from: .mac) }
  }

  /// Fills `output` by extraction with `salt` and expansion with no information: the HKDF of the Noise protocol
  /// (revision 34 section 4.3).
  package mutating func derive(
    _ output: inout Secret, salt: borrowing Secret, input: RawSpan
  ) throws(PrimitiveError) {
    guard hmac.begin(salt.bytes), hmac.add(input) else { throw .taken(from: .mac) }
    let middle = unsafe extracted.mutablePointer
    guard unsafe hmac.end(middle) else { throw .taken(from: .mac) }
    let key = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(middle))
    let isFilled = unsafe Self.fill(output.mutablePointer, key: key, info: RawSpan(), with: &hmac)
    extracted.wipe()
    guard isFilled else { throw .taken(from: .mac) }
  }

  /// T(1), T(2) and so on, each from the one before it, which already stands in the output.
  private static func fill(
    _ output: UnsafeMutableRawBufferPointer, key: RawSpan, info: RawSpan, with hmac: inout HMACSHA256
  ) -> Bool {
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
        guard unsafe hmac.end(last.mutablePointer) else { return false }
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
