import Bytes
import FuzzSupport
import Noise
import Primitives

private typealias Side = HandshakeState<P256AgreementKey, AESGCM>

/// The same bytes in every run, so that the messages of the corpus stay the genuine ones.
private func scalar(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 32) }

private func side(
  _ pattern: HandshakePattern, _ role: NoiseRole, remoteStatic: P256PublicKey? = nil
) throws -> Side {
  let own = scalar(role == .initiator ? 1 : 2)
  let fresh = scalar(role == .initiator ? 3 : 4)
  let (ownKey, freshKey) = (Key(own), Key(fresh))
  return try Side(
    pattern, role: role, prologue: [7].rawSpan, staticKey: ownKey.make(), remoteStatic: remoteStatic,
    random: RandomSource { _ in false }, ephemeralKey: freshKey.make())
}

private struct Key {
  let bytes: [UInt8]
  init(_ bytes: [UInt8]) { self.bytes = bytes }
  func make() throws -> P256AgreementKey { try P256AgreementKey(scalar: bytes.rawSpan) }
}

private func written(_ side: inout Side, _ payload: [UInt8]) throws -> [UInt8] {
  var message: [UInt8] = []
  try side.writeMessage(payload.rawSpan, appendingTo: &message)
  return message
}

/// A side that waits for a message, and the message it waits for.
private struct Waiting: ~Copyable {
  var side: Side
  let genuine: [UInt8]
  /// Whether another message than the genuine one may be taken: only before anything is sealed.
  let isOpen: Bool
}

/// 0, 1, 2: the messages of XX in order; 3: the message of X.
private func waiting(_ number: UInt8) throws -> Waiting {
  if number == 3 {
    let recipient = try Key(scalar(2)).make()
    let known = recipient.publicKey
    var sender = try side(.X, .initiator, remoteStatic: known)
    let message = try written(&sender, Array("personal".utf8))
    return Waiting(side: try side(.X, .responder), genuine: message, isOpen: false)
  }
  var initiator = try side(.XX, .initiator)
  var responder = try side(.XX, .responder)
  var ignored: [UInt8] = []
  let first = try written(&initiator, [])
  if number == 0 { return Waiting(side: responder, genuine: first, isOpen: true) }
  try responder.readMessage(first.rawSpan, appendingTo: &ignored)
  let second = try written(&responder, Array("card of the responder".utf8))
  if number == 1 { return Waiting(side: initiator, genuine: second, isOpen: false) }
  try initiator.readMessage(second.rawSpan, appendingTo: &ignored)
  let third = try written(&initiator, Array("card of the initiator".utf8))
  return Waiting(side: responder, genuine: third, isOpen: false)
}

/// Any bytes are refused, or are the message that was meant; after a refusal the right one is taken.
/// The first byte says which message is waited for.
private let fuzzer = Fuzzer(
  seeds: {
    try (0..<4).map { number in
      let state = try waiting(UInt8(number))
      return ("message-\(number)", [UInt8(number)] + state.genuine)
    }
  },
  test: { bytes in
    guard let choice = bytes.first, var state = try? waiting(choice & 3) else { return }
    let message = Array(bytes.dropFirst())
    var payload: [UInt8] = [1]
    if (try? state.side.readMessage(message.rawSpan, appendingTo: &payload)) != nil {
      require(state.isOpen || message == state.genuine, "a forged message is taken")
      require(payload.count <= message.count, "a payload is no longer than its message")
    } else {
      require(payload == [1], "what was refused leaves nothing")
      let genuine = state.genuine
      let isTaken = (try? state.side.readMessage(genuine.rawSpan, appendingTo: &payload)) != nil
      require(isTaken, "after a refusal the right one is taken")
    }
  })

@_cdecl("FuzzNoiseHandshake_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
