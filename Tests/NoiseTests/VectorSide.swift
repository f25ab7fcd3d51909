import Bytes
import Primitives
import Testing

@testable import Noise

/// A key pair that is made from the bytes of a vector.
protocol VectorKeyPair: NoiseKeyPair, ~Copyable {
  init(scalar: RawSpan) throws(PrimitiveError)
}

extension P256AgreementKey: VectorKeyPair {}
extension X25519AgreementKey: VectorKeyPair {}

/// One side of a vector: its handshake, then its transport.
struct VectorSide<KeyPair: VectorKeyPair & ~Copyable, Cipher: NoiseCipher>: ~Copyable {
  let role: NoiseRole
  private var handshake: HandshakeState<KeyPair, Cipher>?
  private var transport: TransportState<Cipher>?
  private var received: UInt64 = 0
  private(set) var handshakeHash: [UInt8] = []

  init(_ vector: NoiseVector, role: NoiseRole) throws {
    self.role = role
    let isInitiator = role == .initiator
    let name = vector.protocol_name.split(separator: "_").map(String.init)
    let pattern = try #require(Patterns.named(name[1]), "no pattern \(name[1])")
    let prologue = try unhex(isInitiator ? vector.init_prologue : vector.resp_prologue)
    let known = isInitiator ? pattern.responderKnown : pattern.initiatorKnown
    var remote: KeyPair.PublicKey?
    if known.contains(.s) {
      if let given = isInitiator ? vector.init_remote_static : vector.resp_remote_static {
        let bytes = try unhex(given)
        remote = try KeyPair.decode(bytes.rawSpan)
      } else {
        let scalar = try unhex(isInitiator ? vector.resp_static : vector.init_static)
        let pair = try KeyPair(scalar: scalar.rawSpan)
        remote = pair.publicKey
      }
    }
    let keys = try (isInitiator ? vector.init_psks : vector.resp_psks)?.flatMap { try unhex($0) } ?? []
    handshake = try HandshakeState(
      pattern, role: role, prologue: prologue.rawSpan,
      staticKey: Self.key(isInitiator ? vector.init_static : vector.resp_static), remoteStatic: remote,
      presharedKeys: Secret(copying: keys.rawSpan), random: RandomSource { _ in false },
      ephemeralKey: Self.key(isInitiator ? vector.init_ephemeral : vector.resp_ephemeral))
  }

  private static func key(_ text: String?) throws -> KeyPair? {
    guard let text else { return nil }
    let scalar = try unhex(text)
    return try KeyPair(scalar: scalar.rawSpan)
  }

  mutating func write(_ payload: [UInt8]) throws -> [UInt8] {
    var message: [UInt8] = []
    if handshake != nil {
      try handshake?.writeMessage(payload.rawSpan, appendingTo: &message)
      try finishIfDone()
      return message
    }
    try transport?.seal(payload.rawSpan, appendingTo: &message)
    return Array(message.dropFirst(8))
  }

  mutating func read(_ message: [UInt8]) throws -> [UInt8] {
    var payload: [UInt8] = []
    if handshake != nil {
      try handshake?.readMessage(message.rawSpan, appendingTo: &payload)
      try finishIfDone()
      return payload
    }
    var numbered: [UInt8] = []
    numbered.append(bigEndian: received)
    numbered += message
    try transport?.open(numbered.rawSpan, appendingTo: &payload)
    received += 1
    return payload
  }

  private mutating func finishIfDone() throws {
    guard handshake?.isFinished == true, let done = handshake.take() else { return }
    handshakeHash = done.handshakeHash
    transport = try done.split()
    #expect(transport?.handshakeHash == handshakeHash)
  }

  var image: [UInt64] {
    mutating get {
      if let image = handshake?.image { return image.map(UInt64.init) }
      return (transport?.image ?? []) + [received]
    }
  }
}
