internal import CCrypto

/// scrypt (RFC 7914): a key from a passphrase, at a price in memory and time.
package enum Scrypt {
  /// What one derivation costs: about 128 × `cost` × `blockSize` bytes of memory.
  package struct Parameters: Hashable, Sendable {
    /// N: a power of two above 1.
    package var cost: UInt64
    /// r.
    package var blockSize: UInt64
    /// p.
    package var parallelism: UInt64

    package init(cost: UInt64, blockSize: UInt64, parallelism: UInt64) {
      self.cost = cost
      self.blockSize = blockSize
      self.parallelism = parallelism
    }

    /// N 2^17, r 8, p 1: 128 MiB and about half a second on a laptop.
    package static let interactive = Parameters(cost: 1 << 17, blockSize: 8, parallelism: 1)
  }

  /// `count` bytes. Blocks for as long as the parameters say. Refuses parameters outside RFC 7914 section 2 and those
  /// that need more memory than `PrimitivesLimits.scryptMemoryByteCount`.
  package static func derive(
    _ count: Int, from passphrase: RawSpan, salt: RawSpan, parameters: Parameters
  ) throws(PrimitiveError) -> Secret {
    let (cost, blockSize, parallelism) = (parameters.cost, parameters.blockSize, parameters.parallelism)
    let limit = PrimitivesLimits.scryptMemoryByteCount
    guard count > 0, cost > 1, cost & (cost - 1) == 0, blockSize > 0, parallelism > 0,
      cost <= limit / 128, blockSize <= limit / 128 / cost, parallelism <= limit / 128 / blockSize
    else { throw .parametersOutOfRange }
    return try Secret(count: count) { (span) throws(PrimitiveError) in
      let isDerived = unsafe span.withUnsafeMutableBytes { output in
        unsafe passphrase.withBytePointer { passphrase, passphraseCount in
          unsafe salt.withBytePointer { salt, saltCount in
            unsafe EVP_PBE_scrypt(
              UnsafeRawPointer(passphrase).assumingMemoryBound(to: CChar.self), passphraseCount, salt, saltCount, cost,
              blockSize, parallelism, limit + limit / 8, output.baseAddress?.assumingMemoryBound(to: UInt8.self),
              output.count)
          }
        }
      }
      guard isDerived == 1 else { throw .taken(from: .keyDerivation) }
    }
  }
}
