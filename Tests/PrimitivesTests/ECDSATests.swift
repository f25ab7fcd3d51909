import Bytes
import Foundation
import Primitives
import Testing

struct ECDSATests {
  private static let order = Hex.decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")!
  private static let half = Hex.decode("7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8")!

  @Test func aSignatureVerifiesUnderItsKeyAndDigestOnly() throws {
    let key = try P256SigningKey(generatedFrom: .system)
    let other = try P256SigningKey(generatedFrom: .system)
    let digest = try SHA256.digest(Array("hello".utf8))
    let signature = try ECDSA.sign(digest, with: key)
    #expect(signature.count == 64)
    try ECDSA.verify(signature.rawSpan, of: digest, by: key.publicKey)
    #expect(throws: PrimitiveError.signatureRejected) {
      try ECDSA.verify(signature.rawSpan, of: digest, by: other.publicKey)
    }
    #expect(throws: PrimitiveError.signatureRejected) {
      try ECDSA.verify(signature.rawSpan, of: SHA256.digest(Array("hullo".utf8)), by: key.publicKey)
    }
  }

  @Test func sIsLowAndItsTwinIsRefused() throws {
    let key = try P256SigningKey(generatedFrom: .system)
    for round in 0..<64 {
      let digest = try SHA256.digest([UInt8(round)])
      let signature = try ECDSA.sign(digest, with: key)
      let s = Array(signature[32...])
      #expect(s.lexicographicallyPrecedes(Self.half) || s == Self.half)
      let twin = Array(signature[..<32]) + Self.subtract(s, from: Self.order)
      #expect(throws: PrimitiveError.signatureNotLow) {
        try ECDSA.verify(twin.rawSpan, of: digest, by: key.publicKey)
      }
    }
  }

  @Test func everyFlippedBitIsRefused() throws {
    let key = try P256SigningKey(generatedFrom: .system)
    let digest = try SHA256.digest([1])
    let signature = try ECDSA.sign(digest, with: key)
    for bit in 0..<512 {
      var bent = signature
      bent[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: PrimitiveError.self) { try ECDSA.verify(bent.rawSpan, of: digest, by: key.publicKey) }
    }
  }

  /// The other half of a signature that is right with `s`.
  static func twin(of s: [UInt8]) -> [UInt8] { subtract(s, from: order) }

  private static func subtract(_ small: [UInt8], from big: [UInt8]) -> [UInt8] {
    var result = big
    var borrow = 0
    for index in stride(from: 31, through: 0, by: -1) {
      let difference = Int(big[index]) - Int(small[index]) - borrow
      result[index] = UInt8(truncatingIfNeeded: difference)
      borrow = difference < 0 ? 1 : 0
    }
    return result
  }
}
