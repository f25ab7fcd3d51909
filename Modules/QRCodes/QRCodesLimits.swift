/// Limits of this module, each with its reason.
package enum QRCodesLimits {
  /// Light modules around a code, which a reader finds it by (ISO/IEC 18004 section 6.3.8).
  package static let quietZone = 4

  /// Bytes of one code: what the largest still holds at the lowest correction (ISO/IEC 18004 table 7).
  package static let textBytes = 2_953
}
