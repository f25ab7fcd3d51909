internal import Bytes
internal import Primitives

/// A card's fields as they lie in its bytes, before anything is said about what they mean.
struct CardFields {
  let version: UInt8
  let suite: UInt8
  let signingKey: [UInt8]
  let agreementKey: [UInt8]
  let sequence: UInt64
  let issued: UInt64
  let prekeyID: UInt32
  let prekey: [UInt8]
  let sealUntil: UInt64
  let capabilities: UInt32
  let name: [UInt8]
  let icon: [UInt8]
  let signature: [UInt8]

  /// Refuses bytes that are cut and bytes that go on.
  init(decoding bytes: RawSpan) throws(ByteError) {
    var reader = ByteReader(bytes)
    version = try reader.u8()
    suite = try reader.u8()
    signingKey = try reader.array(P256.publicKeyByteCount)
    agreementKey = try reader.array(P256.publicKeyByteCount)
    sequence = try reader.u64()
    issued = try reader.u48()
    prekeyID = try reader.u32()
    prekey = try reader.array(P256.publicKeyByteCount)
    sealUntil = try reader.u48()
    capabilities = try reader.u32()
    name = try reader.array(Int(try reader.u8()))
    icon = try reader.array(Int(try reader.u8()))
    signature = try reader.array(P256.signatureByteCount)
    try reader.finish()
  }
}
