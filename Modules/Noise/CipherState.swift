internal import Primitives
internal import Verifying

/// A key and the counter of the next message under it (revision 34 section 5.1).
package struct CipherState<Cipher: NoiseCipher>: ~Copyable, Sendable {
  private var aead: AEADKey
  package private(set) var hasKey = false
  /// n: the counter of the next message.
  package private(set) var counter: UInt64 = 0

  /// Without a key: what is sealed is only copied.
  package init() throws(NoiseError) {
    let aead = try Self.makeKey()
    self.init(aead: aead)
  }

  private init(aead: consuming AEADKey) { self.aead = aead }

  /// With a key of 32 bytes.
  package static func keyed(_ key: RawSpan) throws(NoiseError) -> CipherState {
    var state = try CipherState()
    try state.initializeKey(key)
    return state
  }

  /// Takes a key of 32 bytes; the counter starts at 0.
  package mutating func initializeKey(_ key: RawSpan) throws(NoiseError) {
    try replaceKey(key)
    counter = 0
    hasKey = true
  }

  mutating func initializeKey(_ key: borrowing Secret) throws(NoiseError) { try initializeKey(key.bytes) }

  /// Continues at `counter`.
  package mutating func setCounter(_ counter: UInt64) { self.counter = counter }

  /// Back to having no key.
  mutating func removeKey() {
    hasKey = false
    counter = 0
  }

  /// Appends what `content` becomes under the next counter: ciphertext and tag, or `content` itself without a key.
  package mutating func encryptWithAd(
    _ associated: RawSpan, _ content: RawSpan, appendingTo buffer: inout [UInt8]
  ) throws(NoiseError) {
    guard hasKey else { return Self.append(content, to: &buffer) }
    try seal(content, counter: counter, authenticating: associated, appendingTo: &buffer)
    counter &+= 1
  }

  /// The way back. A message that does not open leaves the counter where it was.
  package mutating func decryptWithAd(
    _ associated: RawSpan, _ message: RawSpan, appendingTo buffer: inout [UInt8]
  ) throws(NoiseError) {
    guard hasKey else { return Self.append(message, to: &buffer) }
    try open(message, counter: counter, authenticating: associated, appendingTo: &buffer)
    counter &+= 1
  }

  mutating func encryptWithAd(
    _ associated: borrowing Secret, _ content: RawSpan, appendingTo buffer: inout [UInt8]
  ) throws(NoiseError) {
    try encryptWithAd(associated.bytes, content, appendingTo: &buffer)
  }

  mutating func decryptWithAd(
    _ associated: borrowing Secret, _ message: RawSpan, appendingTo buffer: inout [UInt8]
  ) throws(NoiseError) {
    try decryptWithAd(associated.bytes, message, appendingTo: &buffer)
  }

  /// The next key, from this one (revision 34 section 4.2 and 11.3). The counter goes on.
  package mutating func rekey() throws(NoiseError) {
    let next = try nextKey()
    try replaceKey(next.bytes)
  }

  /// What `rekey` would make the key.
  mutating func nextKey() throws(NoiseError) -> Secret {
    var sealed = Secret(count: AEADKey.keyByteCount + AEADKey.tagByteCount) { _ in }
    do throws(PrimitiveError) {
      var bytes = sealed.mutableBytes
      try aead.sealInPlace(&bytes, nonce: Cipher.nonce(NoiseLimits.reservedCounter), authenticating: RawSpan())
    } catch { throw NoiseError(error) }
    return Secret(copying: sealed.bytes.extracting(first: AEADKey.keyByteCount))
  }

  /// Seals under a counter that the caller counts.
  mutating func seal(
    _ content: RawSpan, counter: UInt64, authenticating associated: RawSpan, appendingTo buffer: inout [UInt8]
  ) throws(NoiseError) {
    guard counter != NoiseLimits.reservedCounter || CounterLeft.isSkipped else { throw .counterExhausted }
    do throws(PrimitiveError) {
      try aead.seal(content, nonce: Cipher.nonce(counter), authenticating: associated, appendingTo: &buffer)
    } catch { throw NoiseError(error) }
  }

  /// Opens under a counter that the caller has from elsewhere.
  mutating func open(
    _ message: RawSpan, counter: UInt64, authenticating associated: RawSpan, appendingTo buffer: inout [UInt8]
  ) throws(NoiseError) {
    guard counter != NoiseLimits.reservedCounter || CounterLeft.isSkipped else { throw .counterExhausted }
    do throws(PrimitiveError) {
      try aead.open(message, nonce: Cipher.nonce(counter), authenticating: associated, appendingTo: &buffer)
    } catch { throw NoiseError(error) }
  }

  private static func makeKey() throws(NoiseError) -> AEADKey {
    let zeros = Secret(count: AEADKey.keyByteCount) { _ in }
    do throws(PrimitiveError) { return try AEADKey(Cipher.algorithm, key: zeros.bytes) } catch {
      throw NoiseError(error)
    }
  }

  private mutating func replaceKey(_ key: RawSpan) throws(NoiseError) {
    do throws(PrimitiveError) {
      if let inner = try Cipher.innerKey(key) {
        try aead.setKey(inner.bytes)
      } else {
        try aead.setKey(key)
      }
    } catch { throw NoiseError(error) }
  }

  private static func append(_ bytes: RawSpan, to buffer: inout [UInt8]) {
    unsafe bytes.withUnsafeBytes { unsafe buffer.append(contentsOf: $0) }
  }
}

/// The counter is not the one that is kept for `REKEY()`.
enum CounterLeft: Verification {
  static let name = "counter-left"
}
