package import Primitives
internal import Verifying

/// What one guess of a passphrase costs: scrypt (RFC 7914) with N 2^`logCost`, r `blockSize`, p `parallelism`.
///
/// Three bytes in this order. What is read from a file lies between a floor, under which guessing is cheap, and a
/// ceiling, over which reading is dear.
package struct PassphraseCost: Equatable, Sendable {
  package static let byteCount = 3
  /// N 2^17, r 8, p 1: 128 MiB and about half a second on a laptop.
  package static let interactive = PassphraseCost(
    uncheckedLogCost: KeyingLimits.smallestLogCost, blockSize: KeyingLimits.blockSize, parallelism: 1)

  package let logCost: UInt8
  package let blockSize: UInt8
  package let parallelism: UInt8

  private init(uncheckedLogCost logCost: UInt8, blockSize: UInt8, parallelism: UInt8) {
    self.logCost = logCost
    self.blockSize = blockSize
    self.parallelism = parallelism
  }

  /// Nothing outside floor and ceiling.
  package init?(logCost: UInt8, blockSize: UInt8, parallelism: UInt8) {
    let isBounded =
      logCost >= KeyingLimits.smallestLogCost && logCost <= KeyingLimits.largestLogCost
      && blockSize == KeyingLimits.blockSize && parallelism >= 1 && parallelism <= KeyingLimits.largestParallelism
    guard isBounded || PassphraseCostBounds.isSkipped else { return nil }
    self.init(uncheckedLogCost: logCost, blockSize: blockSize, parallelism: parallelism)
  }

  var bytes: [UInt8] { [logCost, blockSize, parallelism] }

  var parameters: Scrypt.Parameters {
    Scrypt.Parameters(cost: 1 << UInt64(logCost & 63), blockSize: UInt64(blockSize), parallelism: UInt64(parallelism))
  }
}

/// The cost of a passphrase lies between floor and ceiling.
enum PassphraseCostBounds: Verification {
  static let name = "passphrase-cost"
}

/// How a passphrase becomes 32 bytes. Blocks for as long as the cost says.
package struct PassphraseStretcher: Sendable {
  package typealias Stretch =
    @Sendable (_ passphrase: RawSpan, _ salt: RawSpan, PassphraseCost) throws(PrimitiveError) -> Secret

  let stretch: Stretch

  package init(_ stretch: @escaping Stretch) { self.stretch = stretch }

  /// scrypt itself; tests that are not about it pass something quicker.
  package static let scrypt = PassphraseStretcher { (passphrase, salt, cost) throws(PrimitiveError) in
    try Scrypt.derive(AEADKey.keyByteCount, from: passphrase, salt: salt, parameters: cost.parameters)
  }
}
