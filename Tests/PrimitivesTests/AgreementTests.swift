import Bytes
import Primitives
import Testing

struct AgreementTests {
  @Test func bothSidesAgree() throws {
    for _ in 0..<20 {
      let one = try P256AgreementKey(generatedFrom: .system)
      let other = try P256AgreementKey(generatedFrom: .system)
      let mine = try one.agree(with: other.publicKey)
      let encoded = one.publicKey.uncompressedBytes
      let decoded = try P256PublicKey(uncompressed: encoded.rawSpan)
      let sharing = other.shared()
      let theirs = try sharing.agree(with: decoded)
      #expect(bytes(of: mine) == bytes(of: theirs))
    }
    let one = try X25519AgreementKey(generatedFrom: .system)
    let other = try X25519AgreementKey(generatedFrom: .system)
    let mine = try one.agree(with: other.publicKey)
    let sharing = other.shared()
    let theirs = try sharing.agree(with: one.publicKey)
    #expect(bytes(of: mine) == bytes(of: theirs))
  }

  @Test func aPointIsTheSameInBothForms() throws {
    for _ in 0..<50 {
      let key = try P256AgreementKey(generatedFrom: .system).publicKey
      let (short, long) = (key.bytes, key.uncompressedBytes)
      #expect(short.count == 33 && long.count == 65)
      #expect(try P256PublicKey(short) == key)
      #expect(try P256PublicKey(uncompressed: long.rawSpan) == key)
      #expect(Set([try P256PublicKey(short), key]).count == 1)
    }
  }

  @Test func uncompressedPointsOffTheCurveAreRefused() throws {
    let good = try P256AgreementKey(generatedFrom: .system).publicKey.uncompressedBytes
    for head: UInt8 in [0, 1, 2, 3, 5, 6, 7, 0xFF] {
      let bent = [head] + good.dropFirst()
      #expect(throws: PrimitiveError.notOnCurve) { _ = try P256PublicKey(uncompressed: bent.rawSpan) }
    }
    for place in 1..<65 {
      var bent = good
      bent[place] ^= 1
      #expect(throws: PrimitiveError.notOnCurve) { _ = try P256PublicKey(uncompressed: bent.rawSpan) }
    }
    for count in [0, 1, 33, 64, 66] {
      let bytes = [UInt8](repeating: 4, count: count)
      #expect(throws: PrimitiveError.wrongLength(expected: 65, found: count)) {
        _ = try P256PublicKey(uncompressed: bytes.rawSpan)
      }
    }
  }

  @Test func pointsOfLowOrderAgreeWithNobody() throws {
    let key = try X25519AgreementKey(generatedFrom: .system)
    for text in [
      String(repeating: "00", count: 32), "01" + String(repeating: "00", count: 31),
      "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
      "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    ] {
      let bytes = try unhex(text)
      let point = try X25519PublicKey(bytes.rawSpan)
      #expect(throws: PrimitiveError.lowOrderPoint) { _ = try key.agree(with: point) }
    }
  }
}
