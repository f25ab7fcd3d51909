internal import Bytes
internal import Compression
package import Identities
internal import Noise
package import Primitives
internal import WireFormat

/// Why a personal body could not be sealed or opened.
package enum PersonalSealError: Error, Sendable, Equatable {
  /// The content does not fit one seal.
  case tooLong
  /// Not the shape of a sealed body.
  case malformed
  /// Sealed to a prekey that was erased, or never ours.
  case prekeyGone(UInt32)
  /// The seal does not open: changed on the way, or not for us.
  case refused
  case primitiveFailed
}

/// The inner seal: one `Noise_X_P256_AESGCM_SHA256` message to the recipient's prekey, never to the static key, so that
/// whoever steals the static key later opens nothing.
///
///     form 1 (= 1) ‖ prekey ID 4 ‖ Noise X message
///     prologue  relaychat/personal/1 ‖ recipient's PeerID 16 ‖ prekey ID 4 ‖ packet's time 6
///     payload   packed: sender's PeerID 16 ‖ content
///
/// The sender's static key travels inside and is the agreement key of the sender's card; who compares the two knows who
/// wrote. Relays see from tag to tag, a size bucket, and the time.
package enum PersonalSeal {
  static let form: UInt8 = 1
  static let headByteCount = 5

  /// What a seal held, not yet compared with a card.
  package struct Opened: Sendable {
    package var sender: PeerID
    /// The key that the seal has proved: the agreement key of whoever wrote.
    package var key: P256PublicKey
    package var content: [UInt8]
  }

  package static func seal(
    _ content: [UInt8], from sender: PeerID, key: consuming P256AgreementKey, to recipient: PeerID, prekey: Prekey,
    time: UInt64, random: RandomSource
  ) throws(PersonalSealError) -> [UInt8] {
    let payload: [UInt8]
    do { payload = try Packing.pack(sender.bytes + content) } catch { throw .tooLong }
    var body = ByteWriter(capacity: payload.count + 256)
    body.u8(form)
    body.u32(prekey.id)
    var bytes = body.bytes
    let prologue = prologue(recipient, prekey.id, time)
    do throws(NoiseError) {
      var state = try HandshakeState<P256AgreementKey, AESGCM>(
        .X, role: .initiator, prologue: prologue.rawSpan, staticKey: key, remoteStatic: prekey.key, random: random)
      try state.writeMessage(payload.rawSpan, appendingTo: &bytes)
    } catch {
      throw .primitiveFailed
    }
    guard bytes.count <= WireLimits.bodyByteCount else { throw .tooLong }
    return bytes
  }

  /// - Parameter prekey: the private half of a prekey of ours, or nil when it was erased.
  package static func open(
    _ body: [UInt8], as recipient: PeerID, time: UInt64, random: RandomSource, prekey: (UInt32) -> OwnPrekey?
  ) throws(PersonalSealError) -> Opened {
    guard body.count > headByteCount, body[0] == form else { throw .malformed }
    let id = body[1..<headByteCount].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard let own = prekey(id) else { throw .prekeyGone(id) }
    let prologue = prologue(recipient, id, time)
    var payload: [UInt8] = []
    let key: P256PublicKey?
    do throws(NoiseError) {
      var state = try HandshakeState<P256AgreementKey, AESGCM>(
        .X, role: .responder, prologue: prologue.rawSpan, staticKey: own.key.shared(), random: random)
      try state.readMessage(body.rawSpan.extracting(droppingFirst: headByteCount), appendingTo: &payload)
      key = state.remoteStatic
    } catch {
      throw .refused
    }
    guard let key, let content = try? Packing.unpack(payload), content.count > PeerID.byteCount else { throw .malformed }
    var reader = ByteReader(content.rawSpan)
    guard let sender = try? PeerID(from: &reader) else { throw .malformed }
    return Opened(sender: sender, key: key, content: Array(content[PeerID.byteCount...]))
  }

  private static func prologue(_ recipient: PeerID, _ prekey: UInt32, _ time: UInt64) -> [UInt8] {
    var writer = ByteWriter(capacity: 64)
    writer.bytes(DomainLabel.personal.text.description.utf8)
    writer.bytes(recipient.bytes)
    writer.u32(prekey)
    writer.u48(time)
    return writer.bytes
  }
}
