internal import Bytes
package import Primitives

/// One side of one handshake (revision 34 section 5.3), over any curve, cipher and pattern.
///
/// A message that is refused, or that could not be made, changes nothing: the next one finds the state of before.
/// Keys are wiped with the object.
package struct HandshakeState<KeyPair: NoiseKeyPair & ~Copyable, Cipher: NoiseCipher>: ~Copyable, Sendable {
  package let role: NoiseRole
  package let pattern: HandshakePattern
  /// The peer's static key, once known. It is proved with the message after which `isFinished` holds, not before.
  package private(set) var remoteStatic: KeyPair.PublicKey?

  private var symmetric: SymmetricState<Cipher>
  private let random: RandomSource
  private var ownStatic: KeyPair?
  private var ownEphemeral: KeyPair?
  private var remoteEphemeral: KeyPair.PublicKey?
  /// As many keys of 32 bytes as the pattern has `psk` tokens, in their order.
  private let presharedKeys: Secret
  private let usesPresharedKeys: Bool
  private var position = Position()

  private struct Position {
    var message = 0
    var presharedKey = 0
  }

  /// Refuses keys that do not fit the pattern. `ephemeralKey` takes the place of a generated one: for vectors only.
  package init(
    _ pattern: HandshakePattern, role: NoiseRole, prologue: RawSpan, staticKey: consuming KeyPair?,
    remoteStatic: KeyPair.PublicKey? = nil, presharedKeys: consuming Secret? = nil, random: RandomSource,
    ephemeralKey: consuming KeyPair? = nil
  ) throws(NoiseError) {
    let keys = presharedKeys ?? Secret(count: 0) { _ in }
    let expected = pattern.presharedKeyCount * NoiseLimits.presharedKeyByteCount
    guard keys.count == expected else { throw .presharedKeysOfWrongLength(expected: expected, found: keys.count) }

    var symmetric = try SymmetricState<Cipher>(
      protocolName: "Noise_\(pattern.name)_\(KeyPair.curveName)_\(Cipher.name)_SHA256")
    try symmetric.mixHash(prologue)
    let ownPublic = staticKey?.publicKey
    if Self.needsOwnStatic(pattern, role), ownPublic == nil { throw .missingKey(.s) }
    for (known, isOwn) in [
      (pattern.initiatorKnown, role == .initiator), (pattern.responderKnown, role == .responder),
    ] where known.contains(.s) {
      guard let key = isOwn ? ownPublic : remoteStatic else { throw .missingKey(.s) }
      let bytes = KeyPair.encode(key)
      try symmetric.mixHash(bytes.rawSpan)
    }
    self.role = role
    self.pattern = pattern
    self.remoteStatic = remoteStatic
    self.symmetric = symmetric
    self.random = random
    self.presharedKeys = keys
    usesPresharedKeys = expected > 0
    ownStatic = staticKey
    ownEphemeral = ephemeralKey
  }

  /// Whether every message has been sent and read.
  package var isFinished: Bool { position.message == pattern.messages.count }

  /// Whether the next message is ours to make.
  package var isOurTurn: Bool { !isFinished && position.message.isMultiple(of: 2) == (role == .initiator) }

  /// 32 bytes that name this handshake, to bind other things to it. Final once `isFinished`.
  package var handshakeHash: [UInt8] { symmetric.handshakeHash }

  /// Appends the next message, which carries `payload`, to `buffer`.
  package mutating func writeMessage(_ payload: RawSpan, appendingTo buffer: inout [UInt8]) throws(NoiseError) {
    guard isOurTurn else { throw .outOfTurn }
    let (before, start) = (position, buffer.count)
    let hadEphemeral = ownEphemeral != nil
    symmetric.checkpoint()
    do throws(NoiseError) {
      for token in pattern.messages[position.message] { try write(token, appendingTo: &buffer) }
      let length = buffer.count - start + payload.byteCount + (symmetric.hasKey ? AEADKey.tagByteCount : 0)
      guard length <= NoiseLimits.messageByteCount else { throw .messageTooLong(found: length) }
      try symmetric.encryptAndHash(payload, appendingTo: &buffer)
      position.message += 1
    } catch {
      symmetric.restore()
      position = before
      buffer.removeLast(buffer.count - start)
      if !hadEphemeral { ownEphemeral = nil }
      throw error
    }
  }

  /// Takes the peer's next message and appends its payload to `buffer`. What the pattern has not sealed yet is whatever
  /// somebody wrote.
  package mutating func readMessage(_ message: RawSpan, appendingTo buffer: inout [UInt8]) throws(NoiseError) {
    guard !isFinished, !isOurTurn else { throw .outOfTurn }
    guard message.byteCount <= NoiseLimits.messageByteCount else {
      throw .messageTooLong(found: message.byteCount)
    }
    let (before, start) = (position, buffer.count)
    let (ephemeralBefore, staticBefore) = (remoteEphemeral, remoteStatic)
    symmetric.checkpoint()
    do throws(NoiseError) {
      var reader = ByteReader(message)
      for token in pattern.messages[position.message] { try read(token, from: &reader) }
      try symmetric.decryptAndHash(reader.rest(), appendingTo: &buffer)
      position.message += 1
    } catch {
      symmetric.restore()
      position = before
      buffer.removeLast(buffer.count - start)
      (remoteEphemeral, remoteStatic) = (ephemeralBefore, staticBefore)
      throw error
    }
  }

  /// The keys of the transport, after the last message. `rekeyInterval`: see `TransportState`.
  package consuming func split(rekeyInterval: UInt64 = 0) throws(NoiseError) -> TransportState<Cipher> {
    guard isFinished else { throw .notFinished }
    let keys = try symmetric.splitKeys()
    return try TransportState(
      keys: keys, role: role, isOneWay: pattern.isOneWay, handshakeHash: symmetric.handshakeHash,
      rekeyInterval: rekeyInterval)
  }

  private mutating func write(_ token: NoiseToken, appendingTo buffer: inout [UInt8]) throws(NoiseError) {
    switch token {
    case .e:
      if ownEphemeral == nil {
        do throws(PrimitiveError) {
          ownEphemeral = try KeyPair(generatedFrom: random)
        } catch { throw NoiseError(error) }
      }
      guard let key = ownEphemeral?.publicKey else { throw .missingKey(.e) }
      let bytes = KeyPair.encode(key)
      buffer.append(contentsOf: bytes)
      try mixEphemeral(bytes.rawSpan)
    case .s:
      guard let key = ownStatic?.publicKey else { throw .missingKey(.s) }
      let bytes = KeyPair.encode(key)
      try symmetric.encryptAndHash(bytes.rawSpan, appendingTo: &buffer)
    case .psk: try mixPresharedKey()
    case .ee, .es, .se, .ss: try agree(token)
    }
  }

  private mutating func read(_ token: NoiseToken, from reader: inout ByteReader) throws(NoiseError) {
    switch token {
    case .e:
      let bytes = try Self.take(KeyPair.publicKeyByteCount, from: &reader)
      remoteEphemeral = try Self.decode(bytes)
      try mixEphemeral(bytes)
    case .s:
      let count = KeyPair.publicKeyByteCount + (symmetric.hasKey ? AEADKey.tagByteCount : 0)
      let sealed = try Self.take(count, from: &reader)
      var bytes: [UInt8] = []
      try symmetric.decryptAndHash(sealed, appendingTo: &bytes)
      remoteStatic = try Self.decode(bytes.rawSpan)
    case .psk: try mixPresharedKey()
    case .ee, .es, .se, .ss: try agree(token)
    }
  }

  /// With preshared keys the ephemeral key is mixed into the key too, so that none is ever used twice under the same
  /// nonce (revision 34 section 9.2).
  private mutating func mixEphemeral(_ bytes: RawSpan) throws(NoiseError) {
    try symmetric.mixHash(bytes)
    if usesPresharedKeys { try symmetric.mixKey(bytes) }
  }

  private mutating func mixPresharedKey() throws(NoiseError) {
    let start = position.presharedKey * NoiseLimits.presharedKeyByteCount
    position.presharedKey += 1
    try symmetric.mixKeyAndHash(presharedKeys, from: start)
  }

  private mutating func agree(_ token: NoiseToken) throws(NoiseError) {
    let usesOwnEphemeral = token == .ee || token == (role == .initiator ? .es : .se)
    let usesRemoteEphemeral = token == .ee || token == (role == .initiator ? .se : .es)
    guard let peer = usesRemoteEphemeral ? remoteEphemeral : remoteStatic else { throw .missingKey(token) }
    let agreed: Secret?
    do throws(PrimitiveError) {
      agreed = usesOwnEphemeral ? try ownEphemeral?.agree(with: peer) : try ownStatic?.agree(with: peer)
    } catch { throw NoiseError(error) }
    guard let secret = agreed else { throw .missingKey(token) }
    try symmetric.mixKey(secret.bytes)
  }

  @_lifetime(copy reader)
  private static func take(_ count: Int, from reader: inout ByteReader) throws(NoiseError) -> RawSpan {
    do throws(ByteError) { return try reader.bytes(count) } catch {
      throw .messageTooShort(needed: error.needed, available: error.available)
    }
  }

  private static func decode(_ bytes: RawSpan) throws(NoiseError) -> KeyPair.PublicKey {
    do throws(PrimitiveError) { return try KeyPair.decode(bytes) } catch {
      if case .library = error { throw .publicKeyRefused }
      throw NoiseError(error)
    }
  }

  private static func needsOwnStatic(_ pattern: HandshakePattern, _ role: NoiseRole) -> Bool {
    pattern.messages.enumerated().contains { number, tokens in
      let isOurs = number.isMultiple(of: 2) == (role == .initiator)
      return tokens.contains { token in
        switch token {
        case .s: isOurs
        case .ss: true
        case .es: role == .responder
        case .se: role == .initiator
        case .e, .ee, .psk: false
        }
      }
    }
  }

  /// Everything that the next message depends on, for the tests that hold "a refused message changes nothing".
  var image: [UInt8] {
    var writer = ByteWriter()
    writer.bytes(symmetric.image)
    writer.u64(UInt64(position.message))
    writer.u64(UInt64(position.presharedKey))
    for key in [remoteEphemeral, remoteStatic] { writer.bytes(key.map { KeyPair.encode($0) } ?? []) }
    return writer.bytes
  }
}
