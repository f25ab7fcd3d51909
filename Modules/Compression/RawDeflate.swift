internal import Bytes
internal import CZlib
internal import Verifying

/// Raw deflate (RFC 1951): no zlib header and no checksum, because what is compressed is sealed afterwards.
///
/// Every call is a run of its own without a dictionary: one message never shares a window with another.
package enum RawDeflate {
  private static let windowBits: Int32 = -15

  /// `bytes` compressed. May be longer than `bytes`; the caller decides whether it is worth it.
  package static func deflate(_ bytes: RawSpan) throws(CompressionError) -> [UInt8] {
    guard bytes.byteCount <= CompressionLimits.deflatedInputByteCount else {
      throw .inputTooLarge(limit: CompressionLimits.deflatedInputByteCount)
    }
    var stream = unsafe z_stream()
    let code = unsafe deflateInit2_(
      &stream, CompressionLimits.level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    try check(code, is: Z_OK)
    defer { unsafe deflateEnd(&stream) }
    // One step is enough: the bound is zlib's promise for a stream finished in a single call.
    let capacity = unsafe Int(deflateBound(&stream, UInt(bytes.byteCount)))
    var outcome = Z_OK
    let output = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
      unsafe bytes.withUnsafeBytes { input in
        unsafe setInput(input, of: &stream)
        unsafe stream.next_out = buffer.baseAddress
        unsafe stream.avail_out = UInt32(clamping: buffer.count)
        outcome = unsafe CZlib.deflate(&stream, Z_FINISH)
        filled = unsafe buffer.count - Int(stream.avail_out)
      }
    }
    try check(outcome, is: Z_STREAM_END)
    return output
  }

  /// What `bytes` inflate to: exactly one stream, ended, with nothing behind it, of at most `limit` bytes.
  ///
  /// Give it only what was authenticated. Memory grows with the bytes that come out, never by what a sender declares.
  package static func inflate(
    _ bytes: RawSpan, limit: Int = CompressionLimits.inflatedByteCount
  ) throws(CompressionError) -> [UInt8] {
    var stream = unsafe z_stream()
    let code = unsafe inflateInit2_(&stream, windowBits, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    try check(code, is: Z_OK)
    defer { unsafe inflateEnd(&stream) }
    var output: [UInt8] = []
    let outcome = unsafe bytes.withUnsafeBytes { input in
      unsafe setInput(input, of: &stream)
      return unsafe run(&stream, into: &output, limit: max(limit, 0))
    }
    if let error = outcome { throw error }
    return output
  }

  private static func check(_ code: Int32, is expected: Int32) throws(CompressionError) {
    guard code == expected else { throw .library(code: code) }
  }

  private static func setInput(_ input: UnsafeRawBufferPointer, of stream: inout z_stream) {
    // zlib reads its input only; its declaration lacks the `const`.
    unsafe stream.next_in = UnsafeMutablePointer(
      mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
    unsafe stream.avail_in = UInt32(clamping: input.count)
  }

  private static func run(_ stream: inout z_stream, into output: inout [UInt8], limit: Int) -> CompressionError? {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: CompressionLimits.stepByteCount) { step in
      while true {
        // One byte beyond the limit tells a stream that ends there from one that goes on.
        let room = InflateLimit.isSkipped ? step.count : min(step.count, limit - output.count + 1)
        unsafe stream.next_out = step.baseAddress
        unsafe stream.avail_out = UInt32(room)
        let code = unsafe CZlib.inflate(&stream, Z_NO_FLUSH)
        unsafe output.append(contentsOf: step.prefix(room - Int(stream.avail_out)))
        guard output.count <= limit || InflateLimit.isSkipped else { return .outputTooLarge(limit: limit) }
        switch code {
        case Z_STREAM_END:
          let left = unsafe Int(stream.avail_in)
          return left == 0 || InflateEnd.isSkipped ? nil : .trailingBytes(count: left)
        case Z_OK where unsafe stream.avail_out == 0: continue
        case Z_OK, Z_BUF_ERROR: return .truncated
        case Z_DATA_ERROR, Z_NEED_DICT: return .corrupt
        default: return .library(code: code)
        }
      }
    }
  }
}

/// No more comes out than the limit.
enum InflateLimit: Verification {
  static let name = "inflate-limit"
}

/// Nothing follows a stream.
enum InflateEnd: Verification {
  static let name = "inflate-end"
}
