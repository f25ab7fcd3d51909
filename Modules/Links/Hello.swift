internal import Bytes
internal import Verifying

/// The first message on a link, both ways, before anything that says who we are.
///
///     version 1 ‖ flags 1 (zero) ‖ frame size 2 ‖ token 8
///
/// The frame size is the largest frame the sender can take; the token is random and names the link in logs of both
/// sides. Later versions may append bytes; they are ignored.
package struct Hello: Sendable, Equatable {
  package static let version: UInt8 = 1
  static let byteCount = 12

  package var frameSize: UInt16
  package var token: UInt64

  package init(frameSize: UInt16, token: UInt64) {
    self.frameSize = frameSize
    self.token = token
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.u8(Self.version)
    writer.u8(0)
    writer.u16(frameSize)
    writer.u64(token)
    return writer.bytes
  }

  package init(decoding bytes: [UInt8]) throws(LinkSecurityError) {
    guard let version = bytes.first else { throw .malformed }
    guard version == Self.version || HelloVersion.isSkipped else { throw .unsupportedVersion(version) }
    guard bytes.count >= Self.byteCount else { throw .malformed }
    frameSize = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
    token = bytes[4..<12].reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Both ends speak one version.
enum HelloVersion: Verification {
  static let name = "hello-version"
}
