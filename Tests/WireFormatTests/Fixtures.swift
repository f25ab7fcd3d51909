import Bytes
import Primitives
import TestKit
import WireFormat

extension SeededGenerator {
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &self) }
  }
}

let signer = Result { () throws(PrimitiveError) in try SignerBox() }

final class SignerBox: Sendable {
  let key: P256SigningKey
  init() throws(PrimitiveError) { key = try P256SigningKey(generatedFrom: .system) }
  func sign(_ region: RawSpan) throws(PrimitiveError) -> [UInt8] {
    try ECDSA.sign(SHA256.digest(label: .packetSignature, region), with: key)
  }
}

func draft(_ kind: PacketKind = .personal, body: [UInt8] = [1, 2, 3]) throws(WireError) -> PacketDraft {
  try PacketDraft(
    kind: kind, time: 1_800_000_000_000, origin: Tag(rawValue: 0xAABB), destination: Tag(rawValue: 0xCCDD), body: body)
}

/// A packet of exactly `byteCount` bytes with an ID of its own.
func packet(byteCount: Int, seed: UInt64 = 1) throws -> Packet {
  var generator = SeededGenerator(seed: seed)
  return try draft(.personal, body: generator.bytes(byteCount - 32)).unsigned()
}

func headerFailure(_ bytes: [UInt8]) -> WireError? {
  do throws(WireError) { _ = try PacketHeader(decoding: bytes.rawSpan) } catch { return error }
  return nil
}

func frameResult(_ bytes: [UInt8]) -> Result<LinkFrame, WireError> {
  do throws(WireError) { return .success(try LinkFrame(decoding: bytes.rawSpan)) } catch { return .failure(error) }
}
