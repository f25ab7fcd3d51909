package import Bytes
package import Primitives

/// Why stored keys could not be read.
package enum IdentityKeysError: Error, Equatable, Hashable, Sendable {
  /// A field is cut, or bytes follow the end.
  case bytes(ByteError)
  case unknownVersion(UInt8)
  case unknownSuite(UInt8)
  /// No prekey, or more than are ever kept.
  case prekeyCount(Int)
  case key(PrimitiveError)
}

/// The private keys as bytes for the store of keys, big endian:
///
///     version 1 · suite 1 · signing scalar 32 · agreement scalar 32 · next prekey ID 4 · prekey count 1 ·
///     each prekey, oldest first: ID 4 · created 6 · seal until 6 · scalar 32
extension IdentityKeys {
  static let exportVersion: UInt8 = 1
  private static let headByteCount = 71
  private static let prekeyByteCount = 48

  /// In wiped memory, and nowhere else on the way.
  package borrowing func export() throws(PrimitiveError) -> Secret {
    let signingScalar = try signing.exportScalar()
    let agreementScalar = try agreement.exportScalar()
    let count = Self.headByteCount + prekeys.count * Self.prekeyByteCount
    let prekeys = prekeys
    let nextPrekeyID = nextPrekeyID
    return try Secret(count: count) { (span) throws(PrimitiveError) in
      var offset = 0
      Self.store([Self.exportVersion, Suite.p256.rawValue].rawSpan, into: &span, at: &offset)
      Self.store(signingScalar.bytes, into: &span, at: &offset)
      Self.store(agreementScalar.bytes, into: &span, at: &offset)
      var head = ByteWriter()
      head.u32(nextPrekeyID)
      head.u8(UInt8(truncatingIfNeeded: prekeys.count))
      Self.store(head.bytes.rawSpan, into: &span, at: &offset)
      for dated in prekeys {
        var fields = ByteWriter()
        fields.u32(dated.prekey.id)
        fields.u48(dated.created)
        fields.u48(dated.prekey.sealUntil)
        Self.store(fields.bytes.rawSpan, into: &span, at: &offset)
        let scalar = try dated.prekey.key.exportScalar()
        Self.store(scalar.bytes, into: &span, at: &offset)
      }
    }
  }

  /// Keys from what `export` gave. Total: any bytes give keys or an error, and an error makes nothing new.
  package init(importing bytes: RawSpan, random: RandomSource) throws(IdentityKeysError) {
    let stored: StoredKeys
    do { stored = try StoredKeys(bytes) } catch { throw .bytes(error) }
    guard stored.version == Self.exportVersion else { throw .unknownVersion(stored.version) }
    guard stored.suite == Suite.p256.rawValue else { throw .unknownSuite(stored.suite) }
    let count = Int(stored.count)
    guard (1...IdentitiesLimits.prekeyCount).contains(count) else { throw .prekeyCount(count) }
    let expected = Self.headByteCount + count * Self.prekeyByteCount
    guard bytes.byteCount == expected else {
      throw .bytes(ByteError(needed: expected, available: bytes.byteCount))
    }
    do throws(PrimitiveError) {
      let signing = try P256SigningKey(scalar: bytes.extracting(2..<34))
      let agreement = try P256AgreementKey(scalar: bytes.extracting(34..<66))
      var prekeys: [DatedPrekey] = []
      for index in 0..<count {
        let start = Self.headByteCount + index * Self.prekeyByteCount
        let fields = stored.prekeys[index]
        let key = try P256AgreementKey(scalar: bytes.extracting(start + 16..<start + Self.prekeyByteCount))
        prekeys.append(
          DatedPrekey(
            prekey: OwnPrekey(key: key, id: fields.id, sealUntil: fields.sealUntil), created: fields.created))
      }
      let id = try PeerID(signingKey: signing.publicKey)
      self.init(
        id: id, signing: signing, agreement: agreement, prekeys: prekeys, nextPrekeyID: stored.nextPrekeyID,
        random: random)
    } catch { throw .key(error) }
  }

  private static func store(_ bytes: RawSpan, into span: inout MutableRawSpan, at offset: inout Int) {
    for index in 0..<bytes.byteCount {
      span.storeBytes(of: bytes.byte(at: index) ?? 0, toByteOffset: offset + index, as: UInt8.self)
    }
    offset += bytes.byteCount
  }
}

/// The fields of stored keys that are no secret.
private struct StoredKeys {
  let version: UInt8
  let suite: UInt8
  let nextPrekeyID: UInt32
  let count: UInt8
  private(set) var prekeys: [(id: UInt32, created: UInt64, sealUntil: UInt64)] = []

  init(_ bytes: RawSpan) throws(ByteError) {
    var reader = ByteReader(bytes)
    version = try reader.u8()
    suite = try reader.u8()
    try reader.skip(2 * P256.scalarByteCount)
    nextPrekeyID = try reader.u32()
    count = try reader.u8()
    for _ in 0..<min(Int(count), IdentitiesLimits.prekeyCount) {
      prekeys.append((id: try reader.u32(), created: try reader.u48(), sealUntil: try reader.u48()))
      try reader.skip(P256.scalarByteCount)
    }
  }
}
