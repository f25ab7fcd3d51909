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

/// Which handshake, and which of its messages is waited for: one line for each first byte of an input.
private struct Stage {
  let pattern: HandshakePattern
  let number: Int

  /// Its static key travels in the clear, as in no pattern that is shipped.
  static let IX = HandshakePattern("IX", messages: [[.e, .s], [.e, .ee, .se, .s, .es]])

  static let all =
    (0..<3).map { Stage(pattern: .XX, number: $0) } + [Stage(pattern: .X, number: 0)]
    + (0..<3).map { Stage(pattern: .XXpsk0, number: $0) } + (0..<2).map { Stage(pattern: IX, number: $0) }

  /// The message before it was ours, and so is the one behind it.
  var reader: NoiseRole { number == 1 ? .initiator : .responder }
  var writer: NoiseRole { number == 1 ? .responder : .initiator }
  var payload: [UInt8] { Array("card in message \(number) of \(pattern.name)".utf8) }
  /// Anybody can write the first message of these; whoever wrote another than was meant is found out by the second.
  var isOpen: Bool { (pattern == .XX || pattern == Self.IX) && number == 0 }
}

private func side(
  _ pattern: HandshakePattern, _ role: NoiseRole, hasStatic: Bool = true, knowsPeer: Bool = true, hasFresh: Bool = true,
  presharedKeyBytes: Int? = nil
) throws -> Side {
  let isInitiator = role == .initiator
  let presharedKey = [UInt8](repeating: 9, count: presharedKeyBytes ?? (pattern == .XXpsk0 ? 32 : 0))
  return try Side(
    pattern, role: role, prologue: [7].rawSpan,
    staticKey: hasStatic ? (isInitiator ? initiatorStatic : responderStatic).key?.shared() : nil,
    remoteStatic: pattern == .X && isInitiator && knowsPeer ? responderStatic.publicKey : nil,
    presharedKeys: Secret(copying: presharedKey.rawSpan), random: RandomSource { _ in false },
    ephemeralKey: hasFresh ? (isInitiator ? initiatorFresh : responderFresh).key?.shared() : nil)
}

private func written(_ side: inout Side, _ payload: [UInt8]) throws -> [UInt8] {
  var message: [UInt8] = []
  try side.writeMessage(payload.rawSpan, appendingTo: &message)
  return message
}

private func read(_ message: [UInt8], by side: inout Side) throws -> [UInt8] {
  var payload: [UInt8] = []
  try side.readMessage(message.rawSpan, appendingTo: &payload)
  return payload
}

/// The messages of each stage, with the payloads that the stage says.
private let genuine: [[UInt8]] = {
  var messages: [[UInt8]] = []
  do {
    for pattern in [.XX, .X, .XXpsk0, Stage.IX] {
      var initiator = try side(pattern, .initiator)
      var responder = try side(pattern, .responder)
      for stage in Stage.all where stage.pattern == pattern {
        let message =
          try stage.writer == .initiator
          ? written(&initiator, stage.payload) : written(&responder, stage.payload)
        _ = try stage.reader == .initiator ? read(message, by: &initiator) : read(message, by: &responder)
        messages.append(message)
      }
    }
  } catch {
    return []
  }
  return messages
}()

/// One end that has come as far as waiting for the message of the stage, or, with `role` the writer's, as far as making
/// it.
private func end(at stage: Stage, _ role: NoiseRole) throws -> Side {
  var state = try side(stage.pattern, role)
  for (index, earlier) in Stage.all.enumerated()
  where earlier.pattern == stage.pattern && earlier.number < stage.number {
    if earlier.reader == role {
      _ = try read(genuine[index], by: &state)
    } else {
      let message = try written(&state, earlier.payload)
      require(message == genuine[index], "the same keys make the same messages")
    }
  }
  return state
}

/// What is refused whatever a peer sends: nothing of it may change the state.
private func refuseWrongUse(of state: inout Side, at stage: Stage) {
  var buffer: [UInt8] = [1]
  let tooShort: [UInt8] = [4]
  require((try? state.writeMessage(tooShort.rawSpan, appendingTo: &buffer)) == nil, "nobody writes out of turn")
  let tooLong = [UInt8](repeating: 0, count: 65_536)
  require((try? state.readMessage(tooLong.rawSpan, appendingTo: &buffer)) == nil, "nothing too long is read")
  require((try? state.readMessage(tooShort.rawSpan, appendingTo: &buffer)) == nil, "nothing cut off is read")
  if var writer = try? end(at: stage, stage.writer) {
    require((try? writer.readMessage(tooShort.rawSpan, appendingTo: &buffer)) == nil, "nobody reads out of turn")
    require((try? writer.writeMessage(tooLong.rawSpan, appendingTo: &buffer)) == nil, "nothing too long is made")
    let message = try? written(&writer, stage.payload)
    require(message.map(genuine.contains) == true, "after a refusal the right one is made")
    require(writer.isFinished == stage.isLast, "the last message is the last")
  }
  if var unlucky = try? side(stage.pattern, .initiator, hasFresh: false) {
    require((try? unlucky.writeMessage(RawSpan(), appendingTo: &buffer)) == nil, "no key without randomness")
  }
  require((try? side(stage.pattern, .responder, hasStatic: false)) == nil, "no handshake without a key")
  require((try? side(.X, .initiator, knowsPeer: false)) == nil, "no seal to nobody")
  require((try? side(stage.pattern, .responder, presharedKeyBytes: 31)) == nil, "no preshared key of another length")
  require((try? end(at: stage, stage.reader).split()) == nil, "no keys before the end")
  let name = "Noise_IX_of_a_name_that_is_longer_than_one_hash_is"
  require((try? SymmetricState<AESGCM>(protocolName: name)) != nil, "a long name is hashed")
  require(buffer == [1], "what was refused leaves nothing")
}

extension Stage {
  fileprivate var isLast: Bool { number == pattern.messages.count - 1 }
}

/// Goes on to the end with a peer that follows the rules, and passes a message each way.
private func finish(_ state: consuming Side, from stage: Stage) {
  var state = state
  do {
    var peer = try end(at: stage, stage.writer)
    _ = try written(&peer, stage.payload)
    while !state.isFinished {
      if state.isOurTurn {
        _ = try read(written(&state, []), by: &peer)
      } else {
        _ = try read(written(&peer, []), by: &state)
      }
    }
    require(state.handshakeHash == peer.handshakeHash, "both ends name the handshake alike")
    require(stage.pattern == .X || state.remoteStatic != peer.remoteStatic, "each end knows the other's key")
    require(!state.isOurTurn, "nobody is to speak after the end")
    let isOneWay = stage.pattern.isOneWay
    let one = try state.split()
    let other = try peer.split()
    try pass(one, other, isOneWay: isOneWay)
  } catch {
    require(false, "a handshake with the right messages comes to its end")
  }
}

/// `reader` is the end that read the last message of the stage: of X, the one that never sends.
private func pass(
  _ reader: consuming TransportState<AESGCM>, _ writer: consuming TransportState<AESGCM>, isOneWay: Bool
) throws {
  var reader = reader
  var writer = writer
  var (message, content): ([UInt8], [UInt8]) = ([], [])
  try writer.seal([5, 6].rawSpan, appendingTo: &message)
  try reader.open(message.rawSpan, appendingTo: &content)
  require(content == [5, 6], "a message arrives")
  message = []
  let isSent = (try? reader.seal([7].rawSpan, appendingTo: &message)) != nil
  require(isSent != isOneWay, "only a handshake of two lets both speak")
  if isSent { try writer.open(message.rawSpan, appendingTo: &content) }
}

/// The stage of the part that was asked for, or nil for all of them, which the first byte of an input then picks.
private let only: Int? = part.map { name in
  guard let index = Stage.all.firstIndex(where: { "\($0.pattern.name)-\($0.number + 1)" == name }) else {
    exitForUnknown(part: name)
  }
  return index
}

/// An end that waits for the message of a stage. Reaching a stage costs some agreements, and what is refused changes
/// nothing: so one end reads many inputs, and has to take the right message after them.
private final class Waiting {
  private static let inputsPerEnd = 16

  private let stage: Stage
  private let right: [UInt8]
  private var state: Side
  private var refused: [[UInt8]] = []

  init?(_ index: Int) {
    guard let state = try? end(at: Stage.all[index], Stage.all[index].reader) else { return nil }
    stage = Stage.all[index]
    right = genuine[index]
    self.state = state
  }

  /// False when this end has read its message, or has read enough.
  func takes(_ message: [UInt8]) -> Bool {
    let before = state.handshakeHash
    var payload: [UInt8] = [1]
    if (try? state.readMessage(message.rawSpan, appendingTo: &payload)) != nil {
      require(stage.isOpen || message == right, "a forged message is taken")
      require(payload.count <= message.count, "a payload is no longer than its message")
      require(message != right || Array(payload.dropFirst()) == stage.payload, "the payload arrives")
      return false
    }
    require(payload == [1], "what was refused leaves nothing")
    require(state.handshakeHash == before, "what was refused changes nothing")
    refused.append(message)
    guard refused.count == Self.inputsPerEnd else { return true }
    if !isRightTaken() { require(false, "after these refusals the right message is taken: \(refused)") }
    return false
  }

  private func isRightTaken() -> Bool {
    let message = right
    var payload: [UInt8] = []
    let isTaken = (try? state.readMessage(message.rawSpan, appendingTo: &payload)) != nil
    return isTaken && payload == stage.payload
  }
}

// The fuzzer runs on one thread.
nonisolated(unsafe) private var waiting: [Int: Waiting] = [:]

/// What an input asks for by its bit 5 is looked at alone: the message, then the right one, then the way to the end.
private func readAlone(_ message: [UInt8], at index: Int, refusingWrongUse: Bool) {
  let stage = Stage.all[index]
  guard var state = try? end(at: stage, stage.reader) else { return require(false, "a stage is reached") }
  if refusingWrongUse { refuseWrongUse(of: &state, at: stage) }
  var payload: [UInt8] = []
  if (try? state.readMessage(message.rawSpan, appendingTo: &payload)) != nil {
    require(stage.isOpen || message == genuine[index], "a forged message is taken")
    guard message == genuine[index] else { return }
  } else {
    let right = genuine[index]
    let isTaken = (try? state.readMessage(right.rawSpan, appendingTo: &payload)) != nil
    require(isTaken, "after a refusal the right one is taken")
  }
  require(payload == stage.payload, "the payload arrives")
  finish(state, from: stage)
}

/// Any bytes are refused, or are the message that was meant; after a refusal the right one is taken. The low bits of the
/// first byte say which message of which handshake is waited for, unless a part says it; bit 5 asks for the way to the
/// end, and bit 4 with it for what is refused by wrong use.
private let fuzzer = Fuzzer(
  seeds: {
    Stage.all.indices.flatMap { index in
      [0, 16, 32, 48].map { flags in
        let stage = Stage.all[index]
        return ("\(stage.pattern.name)-\(stage.number + 1)-\(flags)", [UInt8(index + flags)] + genuine[index])
      }
    } + [("XX-2-broken", [33] + genuine[1].dropLast() + [0]), ("X-broken", [35] + genuine[3].dropFirst())]
  },
  test: { bytes in
    guard let first = bytes.first else { return }
    let index = only ?? Int(first & 15) % Stage.all.count
    let message = Array(bytes.dropFirst())
    if first & 32 != 0 { return readAlone(message, at: index, refusingWrongUse: first & 16 != 0) }
    guard let end = unsafe waiting[index] ?? Waiting(index) else { return require(false, "a stage is reached") }
    unsafe waiting[index] = end.takes(message) ? end : nil
  })

@_cdecl("FuzzNoiseHandshake_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
