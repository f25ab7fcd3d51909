import Bytes
import Primitives
import TestKit
import Testing

struct AEADTests {
  private static let algorithms: [AEADAlgorithm] = [.aes256GCM, .chaCha20Poly1305]

  private static func key(_ algorithm: AEADAlgorithm, _ byte: UInt8 = 7) throws -> AEADKey {
    let bytes = [UInt8](repeating: byte, count: 32)
    return try AEADKey(algorithm, key: bytes.rawSpan)
  }

  @Test(arguments: algorithms) func everySizeOpensToItself(algorithm: AEADAlgorithm) throws {
    var key = try Self.key(algorithm)
    for count in Array(0...300) + [65_519, 70_000] {
      let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let nonce = AEADNonce(bigEndian: UInt64(count))
      var sealed: [UInt8] = [1, 2]
      try key.seal(content.rawSpan, nonce: nonce, authenticating: [9].rawSpan, appendingTo: &sealed)
      #expect(sealed.count == 2 + count + 16)
      var opened: [UInt8] = [3]
      try key.open(
        sealed.rawSpan.extracting(droppingFirst: 2), nonce: nonce, authenticating: [9].rawSpan, appendingTo: &opened)
      #expect(opened == [3] + content)

      var place = content + [UInt8](repeating: 0, count: 16)
      try place.withMutableBytes { try key.sealInPlace(&$0, nonce: nonce, authenticating: [9].rawSpan) }
      #expect(place == Array(sealed.dropFirst(2)))
      try place.withMutableBytes { try key.openInPlace(&$0, nonce: nonce, authenticating: [9].rawSpan) }
      #expect(Array(place.prefix(count)) == content)
    }
  }

  @Test(arguments: algorithms) func whatWasChangedLeavesNothingBehind(algorithm: AEADAlgorithm) throws {
    var key = try Self.key(algorithm)
    let nonce = AEADNonce(littleEndian: 5)
    var sealed: [UInt8] = []
    try key.seal([1, 2, 3].rawSpan, nonce: nonce, authenticating: RawSpan(), appendingTo: &sealed)
    for place in sealed.indices {
      var bent = sealed
      bent[place] ^= 0x40
      var opened: [UInt8] = [8]
      #expect(throws: PrimitiveError.authenticationFailed) {
        try key.open(bent.rawSpan, nonce: nonce, authenticating: RawSpan(), appendingTo: &opened)
      }
      #expect(opened == [8])
      #expect(throws: PrimitiveError.authenticationFailed) {
        try bent.withMutableBytes { try key.openInPlace(&$0, nonce: nonce, authenticating: RawSpan()) }
      }
      #expect(bent.allSatisfy { $0 == 0 })
      // And the next good one opens.
      try key.open(sealed.rawSpan, nonce: nonce, authenticating: RawSpan(), appendingTo: &opened)
      #expect(opened == [8, 1, 2, 3])
    }
    for count in 0..<16 {
      var opened: [UInt8] = []
      #expect(throws: PrimitiveError.authenticationFailed) {
        try key.open(
          sealed.rawSpan.extracting(first: count), nonce: nonce, authenticating: RawSpan(), appendingTo: &opened)
      }
    }
  }

  @Test(arguments: algorithms) func anotherKeyNonceOrAssociatedBytesDoNotOpen(algorithm: AEADAlgorithm) throws {
    var key = try Self.key(algorithm)
    let nonce = AEADNonce(bigEndian: 1)
    var sealed: [UInt8] = []
    try key.seal([1].rawSpan, nonce: nonce, authenticating: [2].rawSpan, appendingTo: &sealed)
    var opened: [UInt8] = []
    #expect(throws: PrimitiveError.authenticationFailed) {
      try key.open(sealed.rawSpan, nonce: AEADNonce(bigEndian: 2), authenticating: [2].rawSpan, appendingTo: &opened)
    }
    #expect(throws: PrimitiveError.authenticationFailed) {
      try key.open(sealed.rawSpan, nonce: nonce, authenticating: [3].rawSpan, appendingTo: &opened)
    }
    let other = [UInt8](repeating: 8, count: 32)
    try key.setKey(other.rawSpan)
    #expect(throws: PrimitiveError.authenticationFailed) {
      try key.open(sealed.rawSpan, nonce: nonce, authenticating: [2].rawSpan, appendingTo: &opened)
    }
    let first = [UInt8](repeating: 7, count: 32)
    try key.setKey(first.rawSpan)
    try key.open(sealed.rawSpan, nonce: nonce, authenticating: [2].rawSpan, appendingTo: &opened)
    #expect(opened == [1])
  }

  @Test func sizesOfKeysAndNoncesAreHeld() {
    for count in [0, 16, 31, 33] {
      let bytes = [UInt8](repeating: 1, count: count)
      #expect(throws: PrimitiveError.wrongLength(expected: 32, found: count)) {
        _ = try AEADKey(.aes256GCM, key: bytes.rawSpan)
      }
      #expect(throws: PrimitiveError.wrongLength(expected: 12, found: count)) { _ = try AEADNonce(bytes.rawSpan) }
    }
  }

  @Test func noncesHoldTheirCounterHighOrLowByteFirst() throws {
    #expect(try AEADNonce(bigEndian: 0x0102) == AEADNonce([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2].rawSpan))
    #expect(try AEADNonce(littleEndian: 0x0102) == AEADNonce([0, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0].rawSpan))
  }
}

extension [UInt8] {
  /// Lends all bytes to be written.
  mutating func withMutableBytes(_ body: (inout MutableRawSpan) throws -> Void) rethrows {
    var span = mutableSpan
    var bytes = unsafe span.mutableBytes
    try body(&bytes)
  }
}
