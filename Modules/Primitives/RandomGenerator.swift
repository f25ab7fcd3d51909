/// A `RandomNumberGenerator` for choices: jitter, sampling, shuffling. Never for keys, nonces or tokens, because
/// this protocol cannot fail; those come from `SecureRandom` or `RandomSource`.
///
/// Draws from the system. Should that ever fail after `init` succeeded, the numbers go on from the last good one by
/// SplitMix64 and `failures` counts it.
package struct RandomGenerator: RandomNumberGenerator, Sendable {
  /// Draws that the system did not answer.
  package private(set) var failures: UInt64 = 0
  private let source: RandomSource
  private var state: UInt64

  /// Fails when the system has no randomness from the start.
  package init(_ source: RandomSource = .system) throws(PrimitiveError) {
    self.source = source
    state = try source.u64()
  }

  package mutating func next() -> UInt64 {
    if let value = try? source.u64() {
      state = value
      return value
    }
    failures &+= 1
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed &>> 31)
  }
}
