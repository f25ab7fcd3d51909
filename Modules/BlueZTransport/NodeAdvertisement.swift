package import DBusKit

/// Our part of an advertisement: manufacturer data of the company identifier that is kept for tests.
///
///     hint 4 ‖ digest 2
///
/// With flags (3 bytes) and the service UUID (18) the 31 bytes of a legacy advertisement are used to the last.
package struct NodeAdvertisement: Sendable, Hashable {
  package static let company: UInt16 = 0xFFFF

  package var hint: UInt32
  package var digest: UInt16

  package init(hint: UInt32, digest: UInt16) {
    self.hint = hint
    self.digest = digest
  }

  package init?(decoding bytes: [UInt8]) {
    guard bytes.count == 6 else { return nil }
    hint = bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
    digest = UInt16(bytes[4]) << 8 | UInt16(bytes[5])
  }

  package var bytes: [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: hint >> (24 - 8 * UInt32($0))) }
      + [UInt8(digest >> 8), UInt8(truncatingIfNeeded: digest)]
  }

  /// What `LEAdvertisement1` says. `isBare`: without our part, for a controller that refuses the whole.
  package func properties(isBare: Bool) -> [String: DBusValue] {
    var properties: [String: DBusValue] = [
      "Type": .string("peripheral"), "ServiceUUIDs": .strings([BlueZNames.serviceUUID]), "Discoverable": .boolean(true),
    ]
    if !isBare {
      properties["ManufacturerData"] = .dictionary(
        key: "q", value: "v", [DBusEntry(.uint16(Self.company), .variant(.bytes(bytes)))])
    }
    return properties
  }
}
