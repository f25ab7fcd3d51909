import Bytes
import Noise
import Primitives
import Testing

/// Both ends of a handshake that has been run.
struct Channel<KeyPair: NoiseKeyPair & ~Copyable, Cipher: NoiseCipher>: ~Copyable {
  var initiator: TransportState<Cipher>
  var responder: TransportState<Cipher>

  static func handshake(
    _ role: NoiseRole, pattern: HandshakePattern = .XX, prologue: [UInt8] = [1], presharedKey: [UInt8] = [],
    remoteStatic: KeyPair.PublicKey? = nil, random: RandomSource = .system
  ) throws -> HandshakeState<KeyPair, Cipher> {
    let key = try KeyPair(generatedFrom: .system)
    return try HandshakeState(
      pattern, role: role, prologue: prologue.rawSpan, staticKey: consume key, remoteStatic: remoteStatic,
      presharedKeys: Secret(copying: presharedKey.rawSpan), random: random)
  }

  /// `XX` with empty payloads.
  static func made(rekeyInterval: UInt64 = 0) throws -> Channel {
    var one = try handshake(.initiator)
    var other = try handshake(.responder)
    var ignored: [UInt8] = []
    for number in 0..<3 {
      var message: [UInt8] = []
      if number.isMultiple(of: 2) {
        try one.writeMessage(RawSpan(), appendingTo: &message)
        try other.readMessage(message.rawSpan, appendingTo: &ignored)
      } else {
        try other.writeMessage(RawSpan(), appendingTo: &message)
        try one.readMessage(message.rawSpan, appendingTo: &ignored)
      }
    }
    let initiator = try one.split(rekeyInterval: rekeyInterval)
    let responder = try other.split(rekeyInterval: rekeyInterval)
    return Channel(initiator: initiator, responder: responder)
  }
}

extension TransportState {
  mutating func sealed(_ content: [UInt8], authenticating associated: [UInt8] = []) throws(NoiseError) -> [UInt8] {
    var message: [UInt8] = []
    try seal(content.rawSpan, authenticating: associated.rawSpan, appendingTo: &message)
    return message
  }

  mutating func opened(_ message: [UInt8], authenticating associated: [UInt8] = []) throws(NoiseError) -> [UInt8] {
    var content: [UInt8] = []
    try open(message.rawSpan, authenticating: associated.rawSpan, appendingTo: &content)
    return content
  }
}

extension HandshakeState where KeyPair: ~Copyable {
  mutating func written(_ payload: [UInt8] = []) throws(NoiseError) -> [UInt8] {
    var message: [UInt8] = []
    try writeMessage(payload.rawSpan, appendingTo: &message)
    return message
  }

  mutating func read(_ message: [UInt8]) throws(NoiseError) -> [UInt8] {
    var payload: [UInt8] = []
    try readMessage(message.rawSpan, appendingTo: &payload)
    return payload
  }
}
