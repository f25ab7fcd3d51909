import Bytes
import Testing

struct HexTests {
  @Test func everyByteComesBack() {
    let all = (0...255).map { UInt8($0) }
    #expect(Hex.decode(Hex.encode(all)) == all)
    #expect(Hex.decode(Hex.encode(all).uppercased()) == all)
  }

  @Test func digitsAreLowerCase() {
    #expect(Hex.encode([0x00, 0xAB, 0xFF] as [UInt8]) == "00abff")
    #expect(Hex.encode(0x0102_0304_0506_07AB as UInt64) == "01020304050607ab")
  }

  @Test(arguments: ["0", "0g", "g0", " 00", "00 ", "0x00", "é1", "００", "-1", "+1"])
  func whatIsNotHexIsRefused(text: String) {
    #expect(Hex.decode(text) == nil)
  }

  @Test func nothingIsNothing() {
    #expect(Hex.decode("") == [])
  }
}
