internal import Bytes

/// A packet as bytes that were found to be one. Decoding and encoding gives the same bytes: there is nothing else in it.
package struct Packet: Hashable, Sendable {
  package let header: PacketHeader
  package let encoded: [UInt8]

  /// Takes exactly one packet. Total: any bytes give a packet or an error.
  package init(decoding bytes: [UInt8]) throws(WireError) {
    header = try PacketHeader(decoding: bytes.rawSpan)
    encoded = bytes
  }

  /// For one whose bytes this module has just written.
  init(header: PacketHeader, encoded: [UInt8]) {
    self.header = header
    self.encoded = encoded
  }

  package var body: ArraySlice<UInt8> { encoded[header.bodyRange] }

  /// 64 bytes, or nothing.
  package var signature: ArraySlice<UInt8>? { header.signatureRange.map { encoded[$0] } }

  /// The relays that wrote themselves in, the first at the origin's side.
  package var route: [UInt32] { (0..<header.routeCount).map { routeEntry(at: $0) } }

  /// Whether a relay that calls itself so is in the route. It may lie; it only saves a send.
  package func routeContains(_ entry: UInt32) -> Bool {
    for index in 0..<header.routeCount where routeEntry(at: index) == entry { return true }
    return false
  }

  /// The relay at `index` of the route, which is below `header.routeCount`.
  package func routeEntry(at index: Int) -> UInt32 {
    let start = PacketHeader.routeOffset + 4 * index
    return UInt32(encoded[start]) << 24 | UInt32(encoded[start + 1]) << 16 | UInt32(encoded[start + 2]) << 8
      | UInt32(encoded[start + 3])
  }

  /// The bytes to pass on: one more hop, `addedAge` more milliseconds, both stopping at their largest value, and
  /// `entry` behind the route. Without room for the entry the route is marked as cut; without an entry it stays.
  package func relayed(
    addingAge addedAge: UInt32, appending entry: UInt32?, scope: PacketScope = .everybody
  ) -> [UInt8] {
    let hasRoom = header.routeCount < WireLimits.routeEntryCount
    let isAppending = entry != nil && hasRoom
    let isCut = header.isRouteCut || (entry != nil && !hasRoom)
    let (sum, overflow) = header.age.addingReportingOverflow(addedAge)
    let (hops, age) = (header.hops == .max ? .max : header.hops + 1, overflow ? UInt32.max : sum)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(encoded.count + 4)
    let identified = header.identifiedOffset
    bytes.append(copying: encoded.rawSpan.extracting(0..<identified))
    if isAppending, let entry { bytes.append(bigEndian: entry) }
    bytes.append(copying: encoded.rawSpan.extracting(identified..<encoded.count))
    bytes[1] = hops
    for index in 0..<4 { bytes[2 + index] = UInt8(truncatingIfNeeded: age >> (24 - 8 * UInt32(index))) }
    bytes[6] = UInt8(header.routeCount + (isAppending ? 1 : 0)) | (isCut ? 0x80 : 0) | scope.rawValue << 4
    return bytes
  }
}
