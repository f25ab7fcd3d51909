import Bytes
import Primitives
import Testing

@testable import Noise

struct HandshakeTests {
  private typealias P256Side = HandshakeState<P256AgreementKey, AESGCM>
  private typealias P256Channel = Channel<P256AgreementKey, AESGCM>

  @Test func payloadsArriveAndBothSidesKnowEachOther() throws {
    try run(P256AgreementKey.self, AESGCM.self)
    try run(P256AgreementKey.self, ChaChaPoly.self)
    try run(X25519AgreementKey.self, AESGCM.self)
    try run(X25519AgreementKey.self, ChaChaPoly.self)
  }

  private func run<KeyPair: NoiseKeyPair & ~Copyable, Cipher: NoiseCipher>(
    _: KeyPair.Type, _: Cipher.Type
  ) throws {
    var one = try Channel<KeyPair, Cipher>.handshake(.initiator)
    var other = try Channel<KeyPair, Cipher>.handshake(.responder)
    #expect(one.isOurTurn && !other.isOurTurn)
    #expect(try other.read(one.written([1])) == [1])
    #expect(try one.read(other.written([2, 2])) == [2, 2])
    #expect(try other.read(one.written([3])) == [3])
    #expect(one.isFinished && other.isFinished && !one.isOurTurn && !other.isOurTurn)
    #expect(one.remoteStatic != nil && other.remoteStatic != nil)
    #expect(one.handshakeHash == other.handshakeHash)
  }

  @Test func theMessagesOfXXHaveTheirSizes() throws {
    var one = try P256Channel.handshake(.initiator)
    var other = try P256Channel.handshake(.responder)
    let first = try one.written()
    _ = try other.read(first)
    let second = try other.written()
    _ = try one.read(second)
    let third = try one.written()
    _ = try other.read(third)
    #expect([first.count, second.count, third.count] == [65, 162, 97])
  }

  @Test func aPersonalMessageOpensWithOneKeyOnly() throws {
    let recipient = try P256AgreementKey(generatedFrom: .system)
    var sender = try P256Channel.handshake(.initiator, pattern: .X, remoteStatic: recipient.publicKey)
    let message = try sender.written(Array("hello".utf8))
    #expect(message.count == 65 + 81 + 5 + 16)
    var right = try P256Side(
      .X, role: .responder, prologue: [1].rawSpan, staticKey: recipient.shared(), random: .system)
    #expect(try right.read(message) == Array("hello".utf8))
    #expect(right.isFinished && right.remoteStatic != nil)
    var wrong = try P256Channel.handshake(.responder, pattern: .X)
    #expect(throws: NoiseError.notAuthentic) { try wrong.read(message) }
    #expect(throws: NoiseError.missingKey(.s)) { _ = try P256Channel.handshake(.initiator, pattern: .X) }

    var transport = try right.split()
    #expect(throws: NoiseError.oneWay) { try transport.sealed([1]) }
    var sending = try sender.split()
    #expect(try transport.opened(sending.sealed([4])) == [4])
    #expect(throws: NoiseError.oneWay) { try sending.opened([UInt8](repeating: 0, count: 24)) }
  }

  @Test func withoutTheSharedKeyTheFirstMessageFails() throws {
    let key = [UInt8](repeating: 9, count: 32)
    var one = try P256Channel.handshake(.initiator, pattern: .XXpsk0, presharedKey: key)
    let message = try one.written([1])
    var stranger = try P256Channel.handshake(
      .responder, pattern: .XXpsk0, presharedKey: [UInt8](repeating: 8, count: 32))
    #expect(throws: NoiseError.notAuthentic) { try stranger.read(message) }
    var member = try P256Channel.handshake(.responder, pattern: .XXpsk0, presharedKey: key)
    #expect(try member.read(message) == [1])
    for count in [0, 31, 33, 64] {
      #expect(throws: NoiseError.presharedKeysOfWrongLength(expected: 32, found: count)) {
        _ = try P256Channel.handshake(
          .responder, pattern: .XXpsk0, presharedKey: [UInt8](repeating: 9, count: count))
      }
    }
    #expect(throws: NoiseError.presharedKeysOfWrongLength(expected: 0, found: 32)) {
      _ = try P256Channel.handshake(.responder, presharedKey: key)
    }
  }

  @Test func anotherPrologueIsAnotherHandshake() throws {
    var one = try P256Channel.handshake(.initiator, prologue: [1])
    var other = try P256Channel.handshake(.responder, prologue: [2])
    _ = try other.read(one.written())
    let second = try other.written()
    #expect(throws: NoiseError.notAuthentic) { try one.read(second) }
  }

  @Test func turnsAreHeld() throws {
    var one = try P256Channel.handshake(.initiator)
    var other = try P256Channel.handshake(.responder)
    #expect(throws: NoiseError.outOfTurn) { try other.written() }
    let first = try one.written()
    #expect(throws: NoiseError.outOfTurn) { try one.written() }
    _ = try other.read(first)
    #expect(throws: NoiseError.outOfTurn) { try other.read(first) }
    _ = try one.read(other.written())
    _ = try other.read(one.written())
    #expect(throws: NoiseError.outOfTurn) { try one.written() }
    #expect(throws: NoiseError.outOfTurn) { try one.read([]) }
    #expect(throws: NoiseError.notFinished) { _ = try P256Channel.handshake(.initiator).split() }
  }

  @Test func whatIsRefusedChangesNothingAndTheGoodOneWorks() throws {
    var one = try P256Channel.handshake(.initiator)
    var other = try P256Channel.handshake(.responder)
    let first = try one.written([1])
    try refuse(&other, variants: Self.cuts(first))
    _ = try other.read(first)
    let second = try other.written([2])
    try refuse(&one, variants: Self.bends(second) + Self.cuts(second))
    _ = try one.read(second)
    let third = try one.written([3])
    try refuse(&other, variants: Self.bends(third) + Self.cuts(third))
    #expect(try other.read(third) == [3])
    var sending = try one.split()
    var receiving = try other.split()
    #expect(try receiving.opened(sending.sealed([5])) == [5])
  }

  private static func bends(_ message: [UInt8]) -> [[UInt8]] {
    message.indices.map { place in
      var bent = message
      bent[place] ^= 0x20
      return bent
    }
  }

  /// Shorter than the keys a first message must hold, or than what was sealed.
  private static func cuts(_ message: [UInt8]) -> [[UInt8]] { (0..<65).map { Array(message.prefix($0)) } }

  private func refuse(_ side: inout P256Side, variants: [[UInt8]]) throws {
    let before = side.image
    for variant in variants {
      var buffer: [UInt8] = [7]
      #expect(throws: NoiseError.self) { try side.readMessage(variant.rawSpan, appendingTo: &buffer) }
      #expect(buffer == [7])
      #expect(side.image == before)
    }
  }

  @Test func aMessageThatCannotBeMadeChangesNothing() throws {
    let tap = Tap()
    var one = try P256Channel.handshake(.initiator, random: tap.source)
    let before = one.image
    #expect(throws: NoiseError.primitive(.noRandomness)) { try one.written([1]) }
    #expect(one.image == before)
    tap.isOpen = true
    #expect(throws: NoiseError.messageTooLong(found: 65_536)) {
      try one.written([UInt8](repeating: 0, count: 65_471))
    }
    #expect(one.image == before)
    let first = try one.written([UInt8](repeating: 0, count: 65_470))
    #expect(first.count == 65_535)
    var other = try P256Channel.handshake(.responder)
    #expect(throws: NoiseError.messageTooLong(found: 65_536)) { try other.read(first + [0]) }
    _ = try other.read(first)
    #expect(throws: NoiseError.messageTooLong(found: 65_536)) {
      try other.written([UInt8](repeating: 0, count: 65_535 - 162 + 1))
    }
    let second = try other.written([UInt8](repeating: 0, count: 65_535 - 162))
    #expect(second.count == 65_535)
    _ = try one.read(second)
  }

  private final class Tap: @unchecked Sendable {
    var isOpen = false
    var source: RandomSource {
      RandomSource { span in
        guard self.isOpen else { return false }
        for index in 0..<span.byteCount { span.storeBytes(of: UInt8(index + 1), toByteOffset: index, as: UInt8.self) }
        return true
      }
    }
  }

  @Test func keysThatAreNoneAreRefused() throws {
    var curve = try P256Channel.handshake(.responder)
    let before = curve.image
    #expect(throws: NoiseError.publicKeyRefused) { try curve.read([4] + [UInt8](repeating: 1, count: 64)) }
    #expect(curve.image == before)

    var other = try Channel<X25519AgreementKey, AESGCM>.handshake(.responder)
    // The point is only mixed with the answer.
    _ = try other.read([UInt8](repeating: 0, count: 32))
    let middle = other.image
    #expect(throws: NoiseError.publicKeyRefused) { try other.written() }
    #expect(other.image == middle)
  }

  @Test func aLongNameIsHashedAndALackOfKeysIsTold() throws {
    let patched = HandshakePattern.XX.addingPresharedKeys([0, 1, 2, 3])
    #expect(patched.name == "XXpsk0+psk1+psk2+psk3")
    let keys = [UInt8](repeating: 4, count: 128)
    var one = try P256Channel.handshake(.initiator, pattern: patched, presharedKey: keys)
    var other = try P256Channel.handshake(.responder, pattern: patched, presharedKey: keys)
    _ = try other.read(one.written())
    _ = try one.read(other.written())
    _ = try other.read(one.written())
    #expect(one.handshakeHash == other.handshakeHash)
    #expect(throws: NoiseError.missingKey(.s)) {
      _ = try P256Side(.XX, role: .initiator, prologue: RawSpan(), staticKey: nil, random: .system)
    }
  }
}
