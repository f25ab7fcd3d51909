/// Limits of this module, each with its reason.
package enum PrimitivesLimits {
  /// Scalars drawn before a source of randomness is called broken: one refusal has a chance of 2^-32, so eight in a
  /// row say that the source repeats itself.
  package static let scalarAttempts = 8

  /// Memory that one derivation from a passphrase may take, in bytes: N 2^20 with r 8, eight times what new keys take.
  package static let scryptMemoryByteCount: UInt64 = 1 << 30

  /// Bytes that are copied behind their label to be hashed in one go: a packet of one or two frames. Above, copying
  /// costs more than it saves.
  package static let hashScratchByteCount = 1_024
}
