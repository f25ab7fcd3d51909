internal import Bytes
internal import Verifying

/// Makes a message ready to be sealed, and reads it again after it was opened: compressed where that pays, then padded
/// to one of few sizes, so that the size on the air says little about the content.
///
///     length 2 (bit 15: compressed) ‖ content ‖ zeros up to the bucket
///
/// Compression is tried from 96 bytes up and kept only when it reaches a lower bucket. Each message is a run of its own:
/// nothing of another message, and no key, ever shares one with it. The buckets are 32, 96, 224, 480, 992 bytes and then
/// multiples of 1,024 less 32, each of them with the two bytes of the length.
package enum Packing {
  /// The size of what is sealed for `byteCount` bytes of content, the length included.
  package static func bucket(for byteCount: Int) -> Int {
    let needed = byteCount + CompressionLimits.packedHeadBytes
    if let bucket = CompressionLimits.buckets.first(where: { $0 >= needed }) { return bucket }
    let step = CompressionLimits.bucketStep
    return (needed + CompressionLimits.bucketMargin + step - 1) / step * step - CompressionLimits.bucketMargin
  }

  /// Refuses content beyond `CompressionLimits.packedBytes`.
  package static func pack(_ content: [UInt8]) throws(CompressionError) -> [UInt8] {
    guard content.count <= CompressionLimits.packedBytes else {
      throw .tooLong(byteCount: content.count, limit: CompressionLimits.packedBytes)
    }
    var body = content
    var head = UInt16(content.count)
    let plain = bucket(for: content.count)
    if content.count >= CompressionLimits.compressedFrom, let shorter = try? RawDeflate.deflate(content.rawSpan),
      bucket(for: shorter.count) < plain
    {
      body = shorter
      head = UInt16(shorter.count) | 0x8000
    }
    var packed: [UInt8] = []
    let size = bucket(for: body.count)
    packed.reserveCapacity(size)
    packed.append(UInt8(truncatingIfNeeded: head >> 8))
    packed.append(UInt8(truncatingIfNeeded: head))
    packed.append(contentsOf: body)
    packed.append(contentsOf: repeatElement(0, count: size - packed.count))
    return packed
  }

  /// Reads what `pack` has made; call it only with bytes whose seal was opened. Total: any bytes give content or an
  /// error. Another bucket, padding that is not zero, or compression that did not pay is refused.
  package static func unpack(_ packed: [UInt8]) throws(CompressionError) -> [UInt8] {
    guard packed.count >= CompressionLimits.packedHeadBytes else { throw .malformedPacking }
    let head = UInt16(packed[0]) << 8 | UInt16(packed[1])
    let length = Int(head & 0x7fff)
    let end = CompressionLimits.packedHeadBytes + length
    guard length <= CompressionLimits.packedBytes, packed.count == bucket(for: length),
      packed[end...].allSatisfy({ $0 == 0 }) || PaddingZero.isSkipped
    else { throw .malformedPacking }
    let body = Array(packed[CompressionLimits.packedHeadBytes..<end])
    guard head & 0x8000 != 0 else { return body }
    let content = try RawDeflate.inflate(body.rawSpan, limit: CompressionLimits.packedBytes)
    guard content.count >= CompressionLimits.compressedFrom, bucket(for: length) < bucket(for: content.count) else {
      throw .malformedPacking
    }
    return content
  }
}

/// What fills a bucket is zero.
enum PaddingZero: Verification {
  static let name = "padding-zero"
}
