import Testing

@testable import BlueZTransport

@Suite struct BluetoothAddressTests {
  @Test func addressesAreReadInEitherCaseAndWrittenInCapitals() throws {
    let address = try #require(BluetoothAddress("00:1a:7d:DA:71:13"))
    #expect(address.bytes == [0x13, 0x71, 0xDA, 0x7D, 0x1A, 0x00] && address.description == "00:1A:7D:DA:71:13")
    #expect(address == BluetoothAddress("00:1A:7D:da:71:13"))
  }

  @Test(arguments: [
    "", "00:1A:7D:DA:71", "00:1A:7D:DA:71:1G", "00-1A-7D-DA-71-13", "00:1A:7D:DA:71:13:", "001A7DDA7113", "hci0",
    "００:1A:7D:DA:71:13",
  ])
  func whatIsNoAddressIsNone(text: String) { #expect(BluetoothAddress(text) == nil) }

  @Test func companiesHaveTheirNames() {
    #expect(CompanyIdentifier(rawValue: 2).description.hasPrefix("Intel"))
    #expect(CompanyIdentifier(rawValue: 0xFFF0).description == "company 0xFFF0")
    for number in UInt16.min...UInt16.max { _ = CompanyIdentifier(rawValue: number).description }
  }
}
