internal import Bytes
package import Identities
internal import Noise
package import Primitives
package import Streams
internal import Verifying

/// The outer seal: `Noise_XX_P256_AESGCM_SHA256` on every link of every transport, and there is no way to switch it off.
///
/// Cards travel inside the handshake, under its keys. A link stands only when the card's agreement key is the static
/// key that the handshake has proved, so a card of somebody else is worth nothing. The prologue binds both hellos and
/// the wire version. With a community key the pattern is `XXpsk0`: the first message of a stranger already fails, and
/// nothing that depends on who we are is sent to it.
package final class LinkSeal: LinkSecurity {
  private let agreement: P256AgreementKey
  private let ownCard: Latest<VerifiedCard>
  private let communityKey: CommunityKey?
  private let random: RandomSource
  private let time: TimeSource

  /// - Parameters:
  ///   - agreement: the static key, the one of the card.
  ///   - ownCard: the newest card of this node, read at the start of every handshake.
  ///   - communityKey: of a closed community, which only those who hold it can link with.
  package init(
    agreement: consuming P256AgreementKey, ownCard: Latest<VerifiedCard>, communityKey: CommunityKey? = nil,
    random: RandomSource, time: TimeSource
  ) {
    self.agreement = agreement
    self.ownCard = ownCard
    self.communityKey = communityKey
    self.random = random
    self.time = time
  }

  package func handshake(
    role: HandshakeRole, hellos: [UInt8]
  ) throws(LinkSecurityError) -> any LinkHandshake {
    do throws(NoiseError) {
      let prologue = Array(DomainLabel.link.text.description.utf8) + hellos
      let pattern = communityKey == nil ? HandshakePattern.XX : HandshakePattern.XXpsk0
      let state = try HandshakeState<P256AgreementKey, AESGCM>(
        pattern, role: role == .initiator ? .initiator : .responder, prologue: prologue.rawSpan,
        staticKey: agreement.shared(), presharedKeys: communityKey?.copy(), random: random)
      return LinkSealHandshake(state, ownCard: ownCard.value, time: time)
    } catch {
      throw .primitiveFailed
    }
  }
}

/// The key of a closed community: 32 bytes that its members share.
package final class CommunityKey: Sendable {
  package static let byteCount = 32
  private let secret: Secret

  /// Refuses any other length.
  package init?(_ secret: consuming Secret) {
    guard secret.count == Self.byteCount else { return nil }
    self.secret = secret
  }

  func copy() -> Secret { secret.withBytes { Secret(copying: $0) } }
}

/// One handshake of `XX`: e; e, ee, s, es with the responder's card; s, se with the initiator's.
private final class LinkSealHandshake: LinkHandshake {
  private var state: HandshakeState<P256AgreementKey, AESGCM>?
  private let ownCard: VerifiedCard
  private let time: TimeSource
  private var peerCard: VerifiedCard?

  init(
    _ state: consuming HandshakeState<P256AgreementKey, AESGCM>, ownCard: VerifiedCard, time: TimeSource
  ) {
    self.state = consume state
    self.ownCard = ownCard
    self.time = time
  }

  func start() async throws(LinkSecurityError) -> HandshakeProgress {
    guard state?.isOurTurn == true else { return HandshakeProgress() }
    return HandshakeProgress(messages: [try write([])])
  }

  func receive(_ message: [UInt8]) async throws(LinkSecurityError) -> HandshakeProgress {
    let payload = try read(message)
    if !payload.isEmpty { try take(payload) }
    var progress = HandshakeProgress()
    if state?.isOurTurn == true { progress.messages = [try write(ownCard.encoded)] }
    if state?.isFinished == true { progress.established = try finish() }
    return progress
  }

  private func write(_ payload: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
    var message: [UInt8] = []
    do { try state?.writeMessage(payload.rawSpan, appendingTo: &message) } catch { throw .primitiveFailed }
    return message
  }

  private func read(_ message: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
    var payload: [UInt8] = []
    do { try state?.readMessage(message.rawSpan, appendingTo: &payload) } catch { throw .handshakeRefused }
    return payload
  }

  /// The card must be of whom the handshake has proved.
  private func take(_ payload: [UInt8]) throws(LinkSecurityError) {
    guard let card = try? VerifiedCard(verifying: payload.rawSpan),
      card.card.agreementKey == state?.remoteStatic || CardOfHandshake.isSkipped
    else { throw .cardRefused }
    guard card.id != ownCard.id || CardNotOwn.isSkipped else { throw .ownCard }
    peerCard = card
  }

  private func finish() throws(LinkSecurityError) -> EstablishedLink {
    guard let card = peerCard, let finished = state.take() else { throw .cardRefused }
    do {
      let transport = try finished.split(rekeyInterval: LinksLimits.framesPerKey)
      return EstablishedLink(card: card, session: LinkSealSession(transport, now: time.now()))
    } catch {
      throw .primitiveFailed
    }
  }
}

/// Frames under the keys of one handshake: `length 2 ‖ counter 8 ‖ ciphertext ‖ tag 16`.
private final class LinkSealSession: LinkSession {
  private var transport: TransportState<AESGCM>
  private let startedAt: MonotonicTime
  private var keySince: MonotonicTime
  private(set) var isWornOut = false

  init(_ transport: consuming TransportState<AESGCM>, now: MonotonicTime) {
    self.transport = transport
    startedAt = now
    keySince = now
  }

  var overhead: Int { 2 + TransportState<AESGCM>.overhead }

  func seal(_ content: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
    let length = content.count + TransportState<AESGCM>.overhead
    guard length < 0x8000 else { throw .malformed }
    var frame: [UInt8] = []
    frame.reserveCapacity(length + 2)
    frame.append(UInt8(truncatingIfNeeded: length >> 8))
    frame.append(UInt8(truncatingIfNeeded: length))
    do {
      try transport.seal(content.rawSpan, appendingTo: &frame)
    } catch {
      if error == .counterExhausted { isWornOut = true }
      throw .frameRefused
    }
    return frame
  }

  func open(_ frame: [UInt8]) throws(LinkSecurityError) -> [UInt8] {
    guard frame.count >= overhead,
      Int(frame[0]) << 8 | Int(frame[1]) == frame.count - 2 || FrameLength.isSkipped
    else { throw .frameRefused }
    var content: [UInt8] = []
    content.reserveCapacity(frame.count - overhead)
    do {
      try transport.open(frame.rawSpan.extracting(droppingFirst: 2), appendingTo: &content)
    } catch {
      throw .frameRefused
    }
    return content
  }

  func tick(now: MonotonicTime) {
    if now.since(startedAt) >= LinksLimits.sessionLifetime { isWornOut = true }
    guard now.since(keySince) >= LinksLimits.keyLifetime else { return }
    keySince = now
    transport.beginNextKey()
  }
}

/// The card is of whom the handshake has proved.
enum CardOfHandshake: Verification {
  static let name = "card-of-handshake"
}

/// The card is not our own, come back.
enum CardNotOwn: Verification {
  static let name = "card-not-own"
}

/// A frame is as long as it says.
enum FrameLength: Verification {
  static let name = "frame-length"
}
