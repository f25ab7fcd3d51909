import Bytes
import Compression
import FuzzSupport
import Identities
import Noise
import Primitives
import Sessions

/// Bytes that are the same in every run, so that the seals of the corpus stay the genuine ones.
private func fixed(_ byte: UInt8) -> RandomSource {
  RandomSource { span in
    for index in 0..<span.byteCount { span.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
    return true
  }
}

private let time: UInt64 = 1_800_000_000_000

private final class Peer: Sendable {
  let keys: IdentityKeys

  init(_ byte: UInt8) throws { keys = try IdentityKeys(generatedFrom: fixed(byte), now: time) }

  var id: PeerID { keys.id }
  var key: P256AgreementKey { keys.sharedAgreementKey() }
  var publicKey: P256PublicKey { keys.agreementKey }
  var prekey: Prekey { keys.currentPrekey }
  func prekey(id: UInt32) -> OwnPrekey? { keys.prekey(id: id) }
}

private let pair: (recipient: Peer, sender: Peer)? = {
  guard let recipient = try? Peer(1), let sender = try? Peer(2) else { return nil }
  return (recipient, sender)
}()

private func seal(_ content: [UInt8], random: RandomSource = fixed(3)) throws -> [UInt8] {
  guard let (recipient, sender) = pair else { return [] }
  return try PersonalSeal.seal(
    content, from: sender.id, key: sender.key, to: recipient.id, prekey: recipient.prekey, time: time, random: random)
}

/// A right seal over any bytes, as a peer that keeps no rules makes it.
private func seal(overPayload payload: [UInt8], prekey id: UInt32 = 1) throws -> [UInt8] {
  guard let (recipient, sender) = pair else { return [] }
  var prologue = ByteWriter()
  prologue.bytes(DomainLabel.personal.text.description.utf8)
  prologue.bytes(recipient.id.bytes)
  prologue.u32(id)
  prologue.u48(time)
  var body = ByteWriter()
  body.u8(1)
  body.u32(id)
  var bytes = body.bytes
  let start = prologue.bytes
  var state = try HandshakeState<P256AgreementKey, AESGCM>(
    .X, role: .initiator, prologue: start.rawSpan, staticKey: sender.key, remoteStatic: recipient.prekey.key,
    random: fixed(3))
  try state.writeMessage(payload.rawSpan, appendingTo: &bytes)
  return bytes
}

private func open(
  _ body: [UInt8], as id: PeerID? = nil, at time: UInt64 = time
) -> Result<PersonalSeal.Opened, PersonalSealError> {
  guard let (recipient, _) = pair else { return .failure(.primitiveFailed) }
  do throws(PersonalSealError) {
    return .success(
      try PersonalSeal.open(body, as: id ?? recipient.id, time: time, random: fixed(4)) { recipient.prekey(id: $0) })
  } catch {
    return .failure(error)
  }
}

private let contents: [[UInt8]] = {
  let id = MessageID(high: 1, low: 2)
  return [
    MessageContent(id: id, substance: .text("the treasure is under the oak")).encoded,
    MessageContent(id: id, substance: .text(String(repeating: "again and again ", count: 20))).encoded,
    MessageContent(id: id, substance: .ping(token: 5)).encoded,
    MessageContent(id: id, substance: .delivered([id])).encoded,
    MessageContent(id: id, substance: .pong(token: 6, hops: 3, route: [7, 8])).encoded,
  ]
}()
private let genuine: [[UInt8]] = contents.compactMap { try? seal($0) }

/// Any body is refused or was sealed by a peer, and what a peer sealed is content or an error.
///
/// The first byte says what the rest is: a body; the content of a body to seal; or what stands where it is packed.
private let fuzzer = Fuzzer(
  seeds: {
    let ids = pair?.sender.id.bytes ?? []
    var seeds: [(String, [UInt8])] = genuine.enumerated().map { ("body-\($0.offset)", [0] + $0.element) }
    seeds += contents.enumerated().map { ("content-\($0.offset)", [1] + $0.element) }
    for content in [ids + contents[0], ids + contents[1], ids, Array(ids.prefix(9))] {
      seeds.append(("packed-\(seeds.count)", [2] + (try Packing.pack(content))))
    }
    let other: [[UInt8]] = [
      [], [0], [0, 1, 0, 0, 0, 9, 1], [0, 2] + genuine[0].dropFirst(), [0, 1, 0, 0, 0, 1, 7], [2], [1],
      [0] + (try seal(overPayload: [1, 2, 3])), [0] + (try seal(overPayload: try Packing.pack(ids))),
      [0] + genuine[0].dropLast() + [0], [0, 1, 0, 0],
    ]
    return seeds + other.enumerated().map { ("other-\($0.offset)", $0.element) }
  },
  test: { bytes in
    let rest = Array(bytes.dropFirst())
    switch (bytes.first ?? 0) % 3 {
    case 0:
      guard case .success(let opened) = open(rest) else { return }
      read(opened)
    case 1:
      if rest.isEmpty { refuseWhatCannotBeSealed() }
      guard let body = try? seal(rest) else { return require(false, "what is short can be sealed") }
      guard case .success(let opened) = open(body) else { return require(rest.isEmpty, "what was sealed opens") }
      require(opened.content == rest && opened.sender == pair?.sender.id, "what was sealed comes out")
      read(opened)
      refuseChanged(body, at: rest.count)
    default:
      guard let body = try? seal(overPayload: rest) else { return }
      switch open(body) {
      case .success(let opened): read(opened)
      case .failure(let error): require(error == .malformed, "an authentic seal is only ever malformed")
      }
    }
  })

/// Content that nothing makes shorter, longer than a packet's body and longer than a packing.
private let incompressible: [UInt8] = {
  var state: UInt64 = 1
  return (0..<40_000).map { _ in
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return UInt8(truncatingIfNeeded: state >> 56)
  }
}()

private func refuseWhatCannotBeSealed() {
  require((try? seal(incompressible)) == nil, "what is too long to pack is not sealed")
  require((try? seal(Array(incompressible.prefix(32_740)))) == nil, "what is too long for a packet is not sealed")
  require((try? seal([1], random: RandomSource { _ in false })) == nil, "nothing is sealed without randomness")
}

private func read(_ opened: PersonalSeal.Opened) {
  require(opened.key == pair?.sender.publicKey, "only a peer's seal opens")
  require(!opened.content.isEmpty && opened.content.count <= CompressionLimits.packedBytes, "a content has its bounds")
  guard let content = try? MessageContent(decoding: opened.content) else { return }
  require(content.encoded == opened.content, "content has one encoding")
}

/// One bit of a body changed, another recipient's ID or another time: refused.
private func refuseChanged(_ body: [UInt8], at place: Int) {
  var changed = body
  changed[place % body.count] ^= 1 << UInt8(place & 7)
  if case .success = open(changed) { require(false, "a changed body opens") }
  if case .success = open(body, as: pair?.sender.id) { require(false, "a body is for one recipient") }
  if case .success = open(body, at: time + 1) { require(false, "a body is of one time") }
}

@_cdecl("FuzzPersonalSeal_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
