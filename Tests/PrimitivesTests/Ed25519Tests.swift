import Bytes
import Primitives
import Testing

struct Ed25519Tests {
  /// RFC 8032 section 7.1, test 2.
  private static let key = Hex.decode("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")!
  private static let signature = Hex.decode(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
      + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")!

  @Test func everyFlippedBitOfAnEd25519SignatureIsRefused() throws {
    let message: [UInt8] = [0x72]
    try Ed25519.verify(Self.signature.rawSpan, of: message.rawSpan, by: Self.key.rawSpan)
    for bit in 0..<512 {
      var bent = Self.signature
      bent[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: PrimitiveError.self, "bit \(bit)") {
        try Ed25519.verify(bent.rawSpan, of: message.rawSpan, by: Self.key.rawSpan)
      }
    }
    let other: [UInt8] = [0x73]
    #expect(throws: PrimitiveError.signatureRejected) {
      try Ed25519.verify(Self.signature.rawSpan, of: other.rawSpan, by: Self.key.rawSpan)
    }
  }
}
