import Bytes
import FuzzSupport
import Noise
import Primitives

private typealias Side = HandshakeState<P256AgreementKey, AESGCM>

/// The same keys in every run, so that the messages of the corpus stay the genuine ones.
private final class FixedKey: Sendable {
  let key: P256AgreementKey?
  let publicKey: P256PublicKey?

  init(_ byte: UInt8) {
    let scalar = [UInt8](repeating: byte, count: 32)
    do {
      let key = try P256AgreementKey(scalar: scalar.rawSpan)
      publicKey = key.publicKey
      self.key = consume key
    } catch {
      publicKey = nil
      key = nil
    }
  }
}

private let initiatorStatic = FixedKey(1)
private let responderStatic = FixedKey(2)
private let initiatorFresh = FixedKey(3)
private let responderFresh = FixedKey(4)

private func side(_ pattern: HandshakePattern, _ role: NoiseRole) throws -> Side {
  let isInitiator = role == .initiator
  return try Side(
    pattern, role: role, prologue: [7].rawSpan,
    staticKey: (isInitiator ? initiatorStatic : responderStatic).key?.shared(),
    remoteStatic: pattern == .X && isInitiator ? responderStatic.publicKey : nil,
    random: RandomSource { _ in false }, ephemeralKey: (isInitiator ? initiatorFresh : responderFresh).key?.shared())
}

private func written(_ side: inout Side, _ payload: [UInt8]) throws -> [UInt8] {
  var message: [UInt8] = []
  try side.writeMessage(payload.rawSpan, appendingTo: &message)
  return message
}

private func read(_ message: [UInt8], by side: inout Side) throws {
  var ignored: [UInt8] = []
  try side.readMessage(message.rawSpan, appendingTo: &ignored)
}

/// The messages of XX in order, then that of X.
private let genuine: [[UInt8]] = {
  do {
    var initiator = try side(.XX, .initiator)
    var responder = try side(.XX, .responder)
    let first = try written(&initiator, [])
    try read(first, by: &responder)
    let second = try written(&responder, Array("card of the responder".utf8))
    try read(second, by: &initiator)
    let third = try written(&initiator, Array("card of the initiator".utf8))
    var sender = try side(.X, .initiator)
    return [first, second, third, try written(&sender, Array("personal".utf8))]
  } catch {
    return []
  }
}()

/// The side that waits for a message of these.
private func waiting(for number: Int) throws -> Side {
  var waiting = try side(number == 3 ? .X : .XX, number == 1 ? .initiator : .responder)
  if number == 1 { _ = try written(&waiting, []) }
  if number == 2 {
    try read(genuine[0], by: &waiting)
    _ = try written(&waiting, Array("card of the responder".utf8))
  }
  return waiting
}

/// Any bytes are refused, or are the message that was meant; after a refusal the right one is taken.
/// The first byte says which message is waited for.
private let fuzzer = Fuzzer(
  seeds: { genuine.enumerated().map { ("message-\($0)", [UInt8($0)] + $1) } },
  test: { bytes in
    guard let number = bytes.first.map({ Int($0 & 3) }), var state = try? waiting(for: number) else { return }
    let message = Array(bytes.dropFirst())
    var payload: [UInt8] = [1]
    if (try? state.readMessage(message.rawSpan, appendingTo: &payload)) != nil {
      // The first message of XX is not sealed; whoever wrote another is found out by the second.
      require(number == 0 || message == genuine[number], "a forged message is taken")
      require(payload.count <= message.count, "a payload is no longer than its message")
    } else {
      require(payload == [1], "what was refused leaves nothing")
      let right = genuine[number]
      let isTaken = (try? state.readMessage(right.rawSpan, appendingTo: &payload)) != nil
      require(isTaken, "after a refusal the right one is taken")
    }
  })

@_cdecl("FuzzNoiseHandshake_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
