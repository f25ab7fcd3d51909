internal import Bytes

/// Where a caller that was handed its randomness draws it. Assembly passes `.system`; tests pass one of their own
/// that repeats or fails.
package struct RandomSource: Sendable {
  private let fill: @Sendable (inout MutableRawSpan) -> Bool

  /// `fill` writes every byte it is given and says whether it could.
  package init(_ fill: @escaping @Sendable (inout MutableRawSpan) -> Bool) {
    self.fill = fill
  }

  /// The system's generator.
  package static let system = RandomSource { span in
    unsafe span.withUnsafeMutableBytes { unsafe SecureRandom.fill($0) }
  }

  /// `count` bytes in wiped memory.
  package func secret(_ count: Int) throws(PrimitiveError) -> Secret {
    var succeeded = false
    let secret = Secret(count: count) { succeeded = fill(&$0) }
    guard succeeded else { throw .noRandomness }
    return secret
  }

  /// `count` bytes that need no wiping: nonces, tokens.
  package func bytes(_ count: Int) throws(PrimitiveError) -> [UInt8] {
    let secret = try secret(count)
    return [UInt8](copying: secret.bytes)
  }

  package func u64() throws(PrimitiveError) -> UInt64 {
    try bytes(8).reduce(0) { $0 &<< 8 | UInt64($1) }
  }
}
