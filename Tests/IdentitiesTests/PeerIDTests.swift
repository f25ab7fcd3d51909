import Bytes
import Identities
import Primitives
import TestKit
import Testing

struct PeerIDTests {
  @Test func theIDIsTheHashOfLabelSuiteAndKey() throws {
    let scalar = [UInt8](repeating: 0, count: 31) + [1]
    let key = try P256SigningKey(scalar: scalar.rawSpan).publicKey
    let id = try PeerID(signingKey: key)
    let digest = try SHA256.digest(Array("relaychat/id/1".utf8) + [1] + key.bytes)
    #expect(id.bytes == Array(digest.bytes.prefix(16)))
    #expect(id.description == "9364bcf9997e7f78528d25d0de3b7366")
  }

  @Test func textComesBack() throws {
    let id = PeerID(high: 0x0123_4567_89AB_CDEF, low: 0x0011_2233_4455_6677)
    #expect(id.description == "0123456789abcdef0011223344556677")
    #expect(PeerID(hex: id.description) == id)
    #expect(PeerID(hex: id.description.uppercased()) == id)
    #expect(id.tag == 0x0123_4567_89AB_CDEF)
    #expect(id.routeEntry == 0x0123_4567)
    #expect(id.shortHex == "01234567")
    #expect(id.printed(name: try PeerName("Ada")) == "Ada 01234567")
    #expect(id.printed(name: nil) == "01234567")
  }

  @Test(arguments: [
    "", "0123", "0123456789abcdef001122334455667", "0123456789abcdef00112233445566778",
    "g123456789abcdef0011223344556677",
  ])
  func otherTextIsRefused(text: String) {
    #expect(PeerID(hex: text) == nil)
  }

  @Test func orderIsTheOrderOfBytes() {
    var generator = SeededGenerator(seed: 5)
    for _ in 0..<200 {
      let one = PeerID(high: generator.next() % 3, low: generator.next())
      let two = PeerID(high: generator.next() % 3, low: generator.next())
      #expect((one < two) == one.bytes.lexicographicallyPrecedes(two.bytes))
    }
  }

  @Test func sixteenBytesAreNeeded() {
    for count in 0...17 {
      let bytes = [UInt8](repeating: 1, count: count)
      var reader = ByteReader(bytes.rawSpan)
      let fits = (try? PeerID(from: &reader)) != nil
      #expect(fits == (count >= 16))
    }
  }
}
