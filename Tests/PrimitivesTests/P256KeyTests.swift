import Bytes
import Primitives
import Testing

struct P256KeyTests {
  private static let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"

  @Test func theScalarOneGivesTheGenerator() throws {
    let key = try P256SigningKey(scalar: ([UInt8](repeating: 0, count: 31) + [1]).rawSpan)
    #expect(
      Hex.encode(key.publicKey.bytes) == "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296")
  }

  @Test func aScalarComesBack() throws {
    let key = try P256SigningKey(generatedFrom: .system)
    let scalar = try key.exportScalar()
    let copy = try P256SigningKey(scalar: scalar.bytes)
    #expect(copy.publicKey == key.publicKey)
    let agreement = try P256AgreementKey(scalar: scalar.bytes)
    #expect(agreement.publicKey == key.publicKey)
    let again = try agreement.exportScalar()
    let same = scalar.bytes.hasSameBytes(as: again.bytes)
    #expect(same)
  }

  @Test func scalarsOutOfRangeAreRefused() throws {
    let order = Hex.decode(Self.order)!
    for scalar in [[UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xFF, count: 32)] {
      #expect(throws: PrimitiveError.scalarOutOfRange) { _ = try P256SigningKey(scalar: scalar.rawSpan) }
    }
    var last = order
    last[31] -= 1
    _ = try P256SigningKey(scalar: last.rawSpan)
    for count in [0, 31, 33] {
      #expect(throws: PrimitiveError.wrongLength(expected: 32, found: count)) {
        _ = try P256SigningKey(scalar: [UInt8](repeating: 1, count: count).rawSpan)
      }
    }
  }

  @Test func pointsOffTheCurveAreRefused() throws {
    let key = try P256SigningKey(generatedFrom: .system).publicKey
    #expect(try P256PublicKey(key.bytes) == key)
    for count in [0, 1, 32, 34, 65] {
      #expect(throws: PrimitiveError.wrongLength(expected: 33, found: count)) {
        _ = try P256PublicKey([UInt8](repeating: 2, count: count))
      }
    }
    for head: UInt8 in [0, 1, 4, 6, 7, 0xFF] {
      #expect(throws: PrimitiveError.notOnCurve) {
        _ = try P256PublicKey(([head] + key.bytes.dropFirst()))
      }
    }
    // x of the field's size, and an x without a y.
    let field = "02ffffffff00000001000000000000000000000000ffffffffffffffffffffffff"
    let lonely = "02" + String(repeating: "0", count: 63) + "1"
    #expect(throws: PrimitiveError.notOnCurve) { _ = try P256PublicKey(Hex.decode(field)!) }
    #expect(throws: PrimitiveError.notOnCurve) { _ = try P256PublicKey(Hex.decode(lonely)!) }
  }

  @Test func anyBytesGiveAPointOrAnError() throws {
    var accepted = 0
    for _ in 0..<200 {
      let bytes = try [2] + SecureRandom.bytes(32)
      if let key = try? P256PublicKey(bytes) {
        #expect(key.bytes == bytes)
        accepted += 1
      }
    }
    #expect(accepted > 50 && accepted < 150)
  }
}
