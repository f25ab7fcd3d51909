/// Limits of this module, each with its reason.
package enum CompressionLimits {
  /// Most bytes one message may inflate to: twice the largest packet, far under what hurts a small machine.
  package static let inflatedByteCount = 64 * 1024

  /// Bytes the output grows by. One step holds any ordinary message, so that a bomb costs what it really yields.
  package static let stepByteCount = 16 * 1024

  /// Most bytes that are deflated at once. What is longer would be refused at the other end.
  package static let deflatedInputByteCount = inflatedByteCount

  /// Lowest `level` of zlib that finds repetition well in short texts; above it only time is spent.
  package static let level: Int32 = 6
}
