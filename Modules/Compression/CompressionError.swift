/// Why bytes were not compressed or not inflated.
package enum CompressionError: Error, Equatable, Hashable, Sendable {
  /// More input than is ever deflated at once, in bytes.
  case inputTooLarge(limit: Int)
  /// The stream yields more than the caller allows, in bytes.
  case outputTooLarge(limit: Int)
  /// The bytes are no deflate stream.
  case corrupt
  /// The stream does not end where the bytes do: it was cut.
  case truncated
  /// Bytes follow the end of the stream.
  case trailingBytes(count: Int)
  /// Content longer than one packing holds, in bytes.
  case tooLong(byteCount: Int, limit: Int)
  /// No bucket, padding that is not zero, or compression that did not pay: nobody packs so.
  case malformedPacking
  /// zlib failed for want of memory or of its right version; `code` is its own.
  case library(code: Int32)
}
