import Routing
import Testing
import WireFormat

@Suite struct KeyedHashTests {
  @Test func itIsSipHash24OfTheBytesOnTheWire() {
    // Key 00…0f as two little-endian words; the input 00…0f as an ID has big-endian words.
    let hash = KeyedHash(key0: 0x0706_0504_0302_0100, key1: 0x0f0e_0d0c_0b0a_0908)
    let id = PacketID(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f)
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: hash(id) >> (8 * UInt64($0))) }
    #expect(bytes == [0xdb, 0x9b, 0xc2, 0x57, 0x7f, 0xcc, 0x2a, 0x3f])
  }

  @Test func anotherKeyGivesAnotherHash() {
    let id = PacketID(high: 1, low: 2)
    #expect(KeyedHash(key0: 0, key1: 0)(id) != KeyedHash(key0: 0, key1: 1)(id))
    #expect(KeyedHash(key0: 0, key1: 0)(id) != KeyedHash(key0: 0, key1: 0)(PacketID(high: 2, low: 1)))
  }
}
