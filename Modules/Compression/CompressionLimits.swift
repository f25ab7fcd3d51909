/// Limits of this module, each with its reason.
package enum CompressionLimits {
  /// Most bytes one message may inflate to: twice the largest packet, far under what hurts a small machine.
  package static let inflatedByteCount = 64 * 1024

  /// Bytes the output grows by. One step holds any ordinary message, so that a bomb costs what it really yields.
  package static let stepByteCount = 16 * 1024

  /// Most bytes that are deflated at once. What is longer would be refused at the other end.
  package static let deflatedInputByteCount = inflatedByteCount

  /// Bytes of one packed content: what the fifteen bits of its length can say.
  package static let packedBytes = 0x7fff

  /// The length before a packed content.
  package static let packedHeadBytes = 2

  /// Below this a message does not become shorter by compression, so it is not tried.
  package static let compressedFrom = 96

  /// Sizes of packed contents; beyond the last they are multiples of the step less the margin, which leaves room for a
  /// seal in a round number of bytes.
  package static let buckets = [32, 96, 224, 480, 992]
  package static let bucketStep = 1_024
  package static let bucketMargin = 32

  /// Lowest `level` of zlib that finds repetition well in short texts; above it only time is spent.
  package static let level: Int32 = 6
}
