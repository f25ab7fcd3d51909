internal import Bytes
package import Primitives
internal import Verifying

/// The two directions of an established channel. Every message carries its counter, so that a lost one costs only
/// itself and a repeated one is refused.
///
/// A message is: counter 8, big endian · ciphertext · tag 16. The counter needs no protection of its own, being the
/// nonce. Nothing is allocated for a message but what the caller's buffer needs to grow.
///
/// With a rekey interval of n, message c is sealed under the key after c / n applications of `REKEY()`, on both sides
/// and without a word about it: no message can be lost that the change of keys depends on. The key before the newest is
/// kept, because the replay window reaches back into it. A message more than `NoiseLimits.keysAhead` changes ahead is
/// refused, which bounds the work that a forged counter can cause.
package struct TransportState<Cipher: NoiseCipher>: ~Copyable, Sendable {
  /// Bytes by which a message is longer than its content.
  package static var overhead: Int { NoiseLimits.counterByteCount + AEADKey.tagByteCount }

  /// 32 bytes that name the handshake this came from.
  package let handshakeHash: [UInt8]
  /// Messages under one key, or 0 when keys change only by `rekeySending` and `rekeyReceiving`.
  package let rekeyInterval: UInt64

  private let canSend: Bool
  private let canReceive: Bool
  private var sending: CipherState<Cipher>
  private var sendingEpoch: UInt64 = 0
  private var receiving: CipherState<Cipher>
  private var receivingEpoch: UInt64 = 0
  /// The key before `receiving`, once there was one.
  private var previous: CipherState<Cipher>
  /// The key of `nextEpoch`, and the one before it when that is not `receiving`: derived when a message asks for them.
  private var next: CipherState<Cipher>
  private var beforeNext: CipherState<Cipher>
  private var nextEpoch: UInt64 = 0
  private var window = ReplayWindow()

  /// `keys`: 64 bytes, the initiator's to send first. An interval must not be shorter than the replay window.
  package init(
    keys: borrowing Secret, role: NoiseRole, isOneWay: Bool, handshakeHash: [UInt8], rekeyInterval: UInt64 = 0
  ) throws(NoiseError) {
    precondition(rekeyInterval == 0 || rekeyInterval >= NoiseLimits.replayWindow, "the window spans two keys at most")
    let first = keys.bytes.extracting(first: AEADKey.keyByteCount)
    let second = keys.bytes.extracting(last: AEADKey.keyByteCount)
    let isInitiator = role == .initiator
    let sending = try CipherState<Cipher>.keyed(isInitiator ? first : second)
    let receiving = try CipherState<Cipher>.keyed(isInitiator ? second : first)
    let previous = try CipherState<Cipher>()
    let next = try CipherState<Cipher>()
    let beforeNext = try CipherState<Cipher>()
    self.sending = sending
    self.receiving = receiving
    self.previous = previous
    self.next = next
    self.beforeNext = beforeNext
    canSend = isInitiator || !isOneWay
    canReceive = !isInitiator || !isOneWay
    self.handshakeHash = handshakeHash
    self.rekeyInterval = rekeyInterval
  }

  /// The counter that the next message will carry.
  package var sendingCounter: UInt64 { sending.counter }

  /// The highest counter opened so far.
  package var newestReceived: UInt64? { window.newest }

  /// Appends the message that carries `content` to `buffer`. `associated` is not sent; the peer must know it.
  @_specialize(where Cipher == AESGCM)
  package mutating func seal(
    _ content: RawSpan, authenticating associated: RawSpan = RawSpan(), appendingTo buffer: inout [UInt8]
  ) throws(NoiseError) {
    guard canSend else { throw .oneWay }
    let length = content.byteCount + AEADKey.tagByteCount
    guard length <= NoiseLimits.messageByteCount else { throw .messageTooLong(found: length) }
    let counter = sending.counter
    guard counter != NoiseLimits.reservedCounter || CounterLeft.isSkipped else { throw .counterExhausted }
    if rekeyInterval > 0 {
      while sendingEpoch < counter / rekeyInterval {
        try sending.rekey()
        sendingEpoch += 1
      }
    }
    let start = buffer.count
    buffer.append(bigEndian: counter)
    do throws(NoiseError) {
      try sending.seal(content, counter: counter, authenticating: associated, appendingTo: &buffer)
    } catch {
      buffer.removeLast(buffer.count - start)
      throw error
    }
    sending.setCounter(counter &+ 1)
  }

  /// Appends the content of `message` to `buffer`. A refused message changes nothing.
  @_specialize(where Cipher == AESGCM)
  package mutating func open(
    _ message: RawSpan, authenticating associated: RawSpan = RawSpan(), appendingTo buffer: inout [UInt8]
  ) throws(NoiseError) {
    guard canReceive else { throw .oneWay }
    guard message.byteCount >= Self.overhead else {
      throw .messageTooShort(needed: Self.overhead, available: message.byteCount)
    }
    guard message.byteCount <= NoiseLimits.messageByteCount + NoiseLimits.counterByteCount else {
      throw .messageTooLong(found: message.byteCount - NoiseLimits.counterByteCount)
    }
    let counter = message.number(UInt64.self, at: 0)
    guard counter != NoiseLimits.reservedCounter || CounterLeft.isSkipped else { throw .counterExhausted }
    switch window.verdict(on: counter) {
    case .fresh: break
    case .replayed where !FrameReplay.isSkipped: throw .replayed(counter)
    case .tooOld where !FrameReplay.isSkipped: throw .tooOld(counter)
    case .replayed, .tooOld: break
    }
    let sealed = message.extracting(droppingFirst: NoiseLimits.counterByteCount)
    let epoch = rekeyInterval == 0 ? receivingEpoch : counter / rekeyInterval
    if epoch == receivingEpoch {
      try receiving.open(sealed, counter: counter, authenticating: associated, appendingTo: &buffer)
    } else if epoch > receivingEpoch {
      guard epoch - receivingEpoch <= NoiseLimits.keysAhead || FrameKeysAhead.isSkipped else {
        throw .tooFarAhead(counter)
      }
      try deriveNext(for: epoch)
      try next.open(sealed, counter: counter, authenticating: associated, appendingTo: &buffer)
      if epoch == receivingEpoch + 1 {
        swap(&previous, &receiving)
      } else {
        swap(&previous, &beforeNext)
      }
      swap(&receiving, &next)
      receivingEpoch = epoch
    } else {
      guard epoch + 1 == receivingEpoch, previous.hasKey else { throw .tooOld(counter) }
      try previous.open(sealed, counter: counter, authenticating: associated, appendingTo: &buffer)
    }
    window.accept(counter)
  }

  /// The next message goes under the next key of the interval, whatever is left of this one; the peer follows by the
  /// counter. Nothing changes while no message was sent under this key, so that idle time leaves nobody behind.
  package mutating func beginNextKey() {
    guard rekeyInterval > 0, sending.counter % rekeyInterval != 0 else { return }
    let next = (sending.counter / rekeyInterval + 1).multipliedReportingOverflow(by: rekeyInterval)
    if !next.overflow { sending.setCounter(next.partialValue) }
  }

  /// Makes `next` the key of `epoch`, which lies ahead.
  private mutating func deriveNext(for epoch: UInt64) throws(NoiseError) {
    guard nextEpoch != epoch else { return }
    nextEpoch = 0
    var key = try receiving.nextKey()
    for _ in receivingEpoch + 1..<epoch {
      try beforeNext.initializeKey(key)
      key = try beforeNext.nextKey()
    }
    try next.initializeKey(key)
    nextEpoch = epoch
  }

  /// The next key to send under: both sides must do it at the same message. For channels without an interval.
  package mutating func rekeySending() throws(NoiseError) { try sending.rekey() }

  /// The next key to receive under: both sides must do it at the same message. For channels without an interval.
  package mutating func rekeyReceiving() throws(NoiseError) { try receiving.rekey() }

  /// For tests at the far end of the counters.
  mutating func setSendingCounter(_ counter: UInt64) { sending.setCounter(counter) }

  /// For the tests that hold "a refused message changes nothing".
  var image: [UInt64] { window.image + [receivingEpoch, sendingEpoch, sending.counter, previous.hasKey ? 1 : 0] }
}

/// The counter of a message was not seen before.
enum FrameReplay: Verification {
  static let name = "frame-replay"
}

/// The counter of a message asks for few changes of keys at once.
enum FrameKeysAhead: Verification {
  static let name = "frame-keys-ahead"
}
