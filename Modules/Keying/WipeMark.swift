internal import Bytes
internal import Primitives

/// The file `wiping`: that everything here is to go, and what else with it.
///
/// Magic 8, number of paths 1, for each its length 2 and UTF-8 bytes, checksum 8. Total, and one encoding for each value.
/// A file that only has the name, and was put there by mistake, wipes nothing.
package struct WipeMark: Equatable, Sendable {
  package enum Fault: Error, Equatable { case malformed }

  static let magic = Array("RCwipe.1".utf8)
  static let checksumByteCount = 8
  static let largestByteCount =
    8 + 1 + KeyingLimits.pathsInMarker * (2 + KeyingLimits.pathBytes) + checksumByteCount

  /// Paths outside the state directory, or of names in it that only the configuration knows.
  package let paths: [String]

  /// Nothing when there are more, or longer ones, than a mark holds.
  package init?(paths: [String]) {
    guard paths.count <= KeyingLimits.pathsInMarker,
      paths.allSatisfy({ !$0.isEmpty && $0.utf8.count <= KeyingLimits.pathBytes && !$0.utf8.contains(0) })
    else { return nil }
    self.paths = paths
  }

  package init(decoding bytes: RawSpan) throws(Fault) {
    var reader = ByteReader(bytes)
    do {
      guard try reader.array(Self.magic.count) == Self.magic else { throw Fault.malformed }
      var paths: [String] = []
      for _ in 0..<(try reader.u8()) {
        let count = Int(try reader.u16())
        guard let path = String(validating: try reader.array(count), as: UTF8.self) else { throw Fault.malformed }
        paths.append(path)
      }
      let sum = try reader.array(Self.checksumByteCount)
      try reader.finish()
      guard let mark = WipeMark(paths: paths), Self.sum(mark.body) == sum else { throw Fault.malformed }
      self = mark
    } catch {
      throw .malformed
    }
  }

  package var encoded: [UInt8] { body + Self.sum(body) }

  private var body: [UInt8] {
    var writer = ByteWriter()
    writer.bytes(Self.magic)
    writer.u8(UInt8(truncatingIfNeeded: paths.count))
    for path in paths {
      writer.u16(UInt16(truncatingIfNeeded: path.utf8.count))
      writer.bytes(path.utf8)
    }
    return writer.bytes
  }

  private static func sum(_ body: [UInt8]) -> [UInt8] {
    let digest = try? SHA256.digest(label: .wipe, body.rawSpan)
    return Array((digest?.bytes ?? []).prefix(checksumByteCount))
  }
}
