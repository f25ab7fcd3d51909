internal import Bytes
package import Primitives

/// The chaining key, the transcript hash and the key of a handshake (revision 34 section 5.2), with one step back.
package struct SymmetricState<Cipher: NoiseCipher>: ~Copyable, Sendable {
  private var cipher: CipherState<Cipher>
  private var chainingKey: Secret
  private var hash: Secret
  /// The key of `cipher`, so that it can be put back.
  private var key = Secret(count: SHA256.byteCount) { _ in }

  private var savedChainingKey = Secret(count: SHA256.byteCount) { _ in }
  private var savedHash = Secret(count: SHA256.byteCount) { _ in }
  private var savedKey = Secret(count: SHA256.byteCount) { _ in }
  private var savedCounter: UInt64 = 0
  private var hadKey = false
  /// A key could not be put back: nothing is sealed or opened any more, least of all without one.
  private var isSpoiled = false

  private var hasher: SHA256Hasher
  private var hkdf: HKDFSHA256
  private var twoKeys = Secret(count: 2 * SHA256.byteCount) { _ in }

  /// Starts with the name of the protocol: itself in 32 bytes, or its hash when it is longer.
  package init(protocolName: String) throws(NoiseError) {
    let start = try Self.start(protocolName)
    let hasher = try Self.makeHasher()
    let hkdf = try Self.makeDerivation()
    let cipher = try CipherState<Cipher>()
    self.cipher = cipher
    self.hasher = hasher
    self.hkdf = hkdf
    var chainingKey = Secret(count: SHA256.byteCount) { _ in }
    chainingKey.overwrite(with: start)
    self.chainingKey = chainingKey
    hash = start
  }

  private static func start(_ protocolName: String) throws(NoiseError) -> Secret {
    var name = [UInt8](protocolName.utf8)
    if name.count <= SHA256.byteCount {
      name += [UInt8](repeating: 0, count: SHA256.byteCount - name.count)
    } else {
      do throws(PrimitiveError) { name = try SHA256.digest(name).bytes } catch { throw NoiseError(error) }
    }
    return Secret(copying: name.rawSpan)
  }

  private static func makeHasher() throws(NoiseError) -> SHA256Hasher {
    do throws(PrimitiveError) { return try SHA256Hasher() } catch { throw NoiseError(error) }
  }

  private static func makeDerivation() throws(NoiseError) -> HKDFSHA256 {
    do throws(PrimitiveError) { return try HKDFSHA256() } catch { throw NoiseError(error) }
  }

  /// Whether what is mixed and sealed from here on is secret.
  package var hasKey: Bool { cipher.hasKey }

  package mutating func mixKey(_ input: RawSpan) throws(NoiseError) {
    do throws(PrimitiveError) {
      try hkdf.derive(&twoKeys, salt: chainingKey, input: input)
    } catch { throw NoiseError(error) }
    chainingKey.overwrite(with: twoKeys)
    key.overwrite(with: twoKeys, from: SHA256.byteCount)
    try cipher.initializeKey(key)
  }

  package mutating func mixHash(_ bytes: RawSpan) throws(NoiseError) {
    do throws(PrimitiveError) {
      try hasher.update(hash)
      try hasher.update(bytes)
      try hasher.finish(into: &hash)
    } catch { throw NoiseError(error) }
  }

  /// For the preshared key that begins at `offset` of `secret`.
  package mutating func mixKeyAndHash(_ secret: borrowing Secret, from offset: Int) throws(NoiseError) {
    let input = secret.bytes.extracting(offset..<min(secret.count, offset + NoiseLimits.presharedKeyByteCount))
    var threeKeys = Secret(count: 3 * SHA256.byteCount) { _ in }
    do throws(PrimitiveError) {
      try hkdf.derive(&threeKeys, salt: chainingKey, input: input)
    } catch { throw NoiseError(error) }
    chainingKey.overwrite(with: threeKeys)
    try mixHash(threeKeys.bytes.extracting(SHA256.byteCount..<2 * SHA256.byteCount))
    key.overwrite(with: threeKeys, from: 2 * SHA256.byteCount)
    try cipher.initializeKey(key)
  }

  /// Appends `content`, sealed once there is a key, and mixes what was appended.
  package mutating func encryptAndHash(_ content: RawSpan, appendingTo buffer: inout [UInt8]) throws(NoiseError) {
    guard !isSpoiled else { throw .primitive(.library(.cipher, code: 0)) }
    let start = buffer.count
    try cipher.encryptWithAd(hash, content, appendingTo: &buffer)
    try mixHash(buffer.rawSpan.extracting(start..<buffer.count))
  }

  /// Appends the content of `message` and mixes `message`.
  package mutating func decryptAndHash(_ message: RawSpan, appendingTo buffer: inout [UInt8]) throws(NoiseError) {
    guard !isSpoiled else { throw .primitive(.library(.cipher, code: 0)) }
    try cipher.decryptWithAd(hash, message, appendingTo: &buffer)
    try mixHash(message)
  }

  /// 32 bytes that name this handshake: both sides have the same and nobody else can cause them again.
  package var handshakeHash: [UInt8] { [UInt8](copying: hash.bytes) }

  /// The two keys of the transport, 64 bytes: the initiator's to send first.
  package mutating func splitKeys() throws(NoiseError) -> Secret {
    guard !isSpoiled else { throw .primitive(.library(.cipher, code: 0)) }
    var keys = Secret(count: 2 * SHA256.byteCount) { _ in }
    do throws(PrimitiveError) {
      try hkdf.derive(&keys, salt: chainingKey, input: RawSpan())
    } catch { throw NoiseError(error) }
    return keys
  }

  /// Remembers where it stands.
  mutating func checkpoint() {
    savedChainingKey.overwrite(with: chainingKey)
    savedHash.overwrite(with: hash)
    savedKey.overwrite(with: key)
    savedCounter = cipher.counter
    hadKey = cipher.hasKey
  }

  /// Goes back to where it stood at the last `checkpoint`.
  mutating func restore() {
    chainingKey.overwrite(with: savedChainingKey)
    hash.overwrite(with: savedHash)
    key.overwrite(with: savedKey)
    guard hadKey else { return cipher.removeKey() }
    do throws(NoiseError) {
      try cipher.initializeKey(savedKey)
      cipher.setCounter(savedCounter)
    } catch { isSpoiled = true }
  }

  /// Everything that the next message depends on, for the tests that hold "a refused message changes nothing".
  var image: [UInt8] {
    var writer = ByteWriter(capacity: 3 * SHA256.byteCount + 9)
    writer.bytes(chainingKey.bytes)
    writer.bytes(hash.bytes)
    writer.bytes(key.bytes)
    writer.u64(cipher.counter)
    writer.u8(cipher.hasKey ? 1 : 0)
    return writer.bytes
  }
}
