internal import CBluetooth

/// A device address of 48 bits (Bluetooth Core, Vol 6 Part B 1.3), the byte of the highest value first in its text.
package struct BluetoothAddress: Sendable, Hashable, CustomStringConvertible {
  /// Six bytes, the lowest first, as they go over the air.
  package let bytes: [UInt8]

  /// `00:11:22:AA:BB:CC` in either case; nil for anything else.
  package init?(_ text: String) {
    var address = bdaddr_t()
    guard text.utf8.count == 17, unsafe bachk(text) == 0, unsafe str2ba(text, &address) == 0 else { return nil }
    bytes = unsafe withUnsafeBytes(of: &address) { unsafe Array($0) }
  }

  /// In capitals, as BlueZ writes it.
  package var description: String {
    var address = bdaddr_t()
    unsafe withUnsafeMutableBytes(of: &address) { unsafe $0.copyBytes(from: bytes) }
    var text = [CChar](repeating: 0, count: 18)
    guard unsafe ba2str(&address, &text) == 17 else { return "" }
    return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// The number by which the Bluetooth SIG knows a company (Assigned Numbers, section 7).
package struct CompanyIdentifier: Sendable, Hashable, CustomStringConvertible {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The name in the list of this machine's libbluetooth; nil for one that it does not know.
  package var name: String? {
    guard let text = unsafe bt_compidtostr(Int32(rawValue)) else { return nil }
    let name = unsafe String(cString: text)
    return name == "not assigned" ? nil : name
  }

  package var description: String {
    let digits = String(rawValue, radix: 16, uppercase: true)
    return name ?? "company 0x" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}
