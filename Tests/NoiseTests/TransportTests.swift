import Bytes
import Primitives
import TestKit
import Testing

@testable import Noise

struct TransportTests {
  private typealias P256Channel = Channel<P256AgreementKey, AESGCM>

  @Test func messagesOfEverySizeOpenInBothDirections() throws {
    var channel = try P256Channel.made()
    for count in [0, 1, 15, 16, 17, 255, 256, 509, 65_519] {
      let content = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      let there = try channel.initiator.sealed(content)
      #expect(there.count == count + TransportState<AESGCM>.overhead)
      #expect(try channel.responder.opened(there) == content)
      let back = try channel.responder.sealed(content, authenticating: [7])
      #expect(throws: NoiseError.notAuthentic) { try channel.initiator.opened(back) }
      #expect(try channel.initiator.opened(back, authenticating: [7]) == content)
    }
    #expect(throws: NoiseError.messageTooLong(found: 65_536)) {
      try channel.initiator.sealed([UInt8](repeating: 0, count: 65_520))
    }
    #expect(throws: NoiseError.messageTooLong(found: 65_536)) {
      try channel.responder.opened([UInt8](repeating: 0, count: 65_544))
    }
    let (sent, newest) = (channel.initiator.sendingCounter, channel.responder.newestReceived)
    #expect(sent == 9 && newest == 8)
  }

  @Test func bothSidesKnowTheSameHandshakeHash() throws {
    let channel = try P256Channel.made()
    #expect(channel.initiator.handshakeHash == channel.responder.handshakeHash)
    let other = try P256Channel.made()
    #expect(channel.initiator.handshakeHash != other.initiator.handshakeHash)
  }

  @Test func aRefusedMessageChangesNothing() throws {
    var channel = try P256Channel.made(rekeyInterval: 1_024)
    let good = try channel.initiator.sealed([1, 2, 3])
    let before = channel.responder.image
    for place in good.indices {
      var bent = good
      bent[place] ^= 0x10
      #expect(throws: NoiseError.self) { try channel.responder.opened(bent) }
    }
    for count in 0..<good.count {
      #expect(throws: NoiseError.self) { try channel.responder.opened(Array(good.prefix(count))) }
    }
    #expect(channel.responder.image == before)
    #expect(try channel.responder.opened(good) == [1, 2, 3])
    let after = channel.responder.image
    #expect(throws: NoiseError.replayed(0)) { try channel.responder.opened(good) }
    #expect(throws: NoiseError.notAuthentic) { try channel.initiator.opened(good) }
    #expect(channel.responder.image == after)
  }

  @Test func aRefusedMessageLeavesTheBufferAlone() throws {
    var channel = try P256Channel.made()
    var message = try channel.initiator.sealed([1])
    message[9] ^= 1
    var buffer: [UInt8] = [5]
    #expect(throws: NoiseError.notAuthentic) {
      try channel.responder.open(message.rawSpan, appendingTo: &buffer)
    }
    #expect(buffer == [5])
  }

  @Test func lostAndLateMessagesCostOnlyThemselves() throws {
    var channel = try P256Channel.made()
    let messages = try (0..<1_200).map { try channel.initiator.sealed([UInt8(truncatingIfNeeded: $0)]) }
    #expect(try channel.responder.opened(messages[1_100]) == [UInt8(truncatingIfNeeded: 1_100)])
    #expect(throws: NoiseError.tooOld(76)) { try channel.responder.opened(messages[76]) }
    #expect(try channel.responder.opened(messages[77]) == [77])
    #expect(throws: NoiseError.replayed(77)) { try channel.responder.opened(messages[77]) }
    #expect(try channel.responder.opened(messages[1_199]) == [UInt8(truncatingIfNeeded: 1_199)])
    #expect(throws: NoiseError.tooOld(100)) { try channel.responder.opened(messages[100]) }
  }

  @Test(arguments: [1, 2, 3] as [UInt64]) func keysChangeByTheCounterThroughLossAndDisorder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var channel = try P256Channel.made(rekeyInterval: 1_024)
    var waiting: [(UInt64, [UInt8])] = []
    var delivered = 0
    for number in 0..<8_000 as Range<UInt64> {
      let content = Self.bytes(number)
      waiting.append((number, try channel.initiator.sealed(content)))
      guard waiting.count > 600 else { continue }
      let (sent, message) = waiting.remove(at: Int.random(in: 0..<waiting.count, using: &random))
      if UInt8.random(in: 0..<5, using: &random) == 0 { continue }
      do throws(NoiseError) {
        let opened = try channel.responder.opened(message)
        #expect(opened == Self.bytes(sent), "seed \(seed)")
        delivered += 1
      } catch {
        let newest = channel.responder.newestReceived ?? 0
        #expect(error == .tooOld(sent) && sent + 1_024 <= newest, "seed \(seed): \(error)")
      }
    }
    #expect(delivered > 4_000)
  }

  private static func bytes(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(bigEndian: number)
    return bytes
  }

  @Test func keysReallyChangeAtTheInterval() throws {
    var channel = try P256Channel.made(rekeyInterval: 2_048)
    for _ in 0..<2_048 { _ = try channel.initiator.sealed([]) }
    var plain = channel.initiator.image
    let first = try channel.initiator.sealed([1])
    #expect(try channel.responder.opened(first) == [1])
    #expect(plain != channel.initiator.image)
    plain = channel.responder.image
    // Nine changes ahead is refused before anything is tried.
    for _ in 0..<9 * 2_048 { _ = try channel.initiator.sealed([]) }
    let far = try channel.initiator.sealed([2])
    #expect(throws: NoiseError.tooFarAhead(20_481)) { try channel.responder.opened(far) }
    #expect(channel.responder.image == plain)
  }

  @Test(arguments: 1...8) func keysWhoseMessagesAreAllLostAreSteppedOver(changes: Int) throws {
    var channel = try P256Channel.made(rekeyInterval: 1_024)
    _ = try channel.responder.opened(channel.initiator.sealed([0]))
    for _ in 1..<changes {
      channel.initiator.beginNextKey()
      _ = try channel.initiator.sealed([1])
    }
    // The last message of the key before the newest arrives late.
    for _ in 0..<1_022 { _ = try channel.initiator.sealed([2]) }
    let late = try channel.initiator.sealed([3])
    channel.initiator.beginNextKey()
    let first = try channel.initiator.sealed([4])
    var forged = first
    forged[20] ^= 1
    let before = channel.responder.image
    #expect(throws: NoiseError.notAuthentic) { try channel.responder.opened(forged) }
    #expect(channel.responder.image == before)
    #expect(try channel.responder.opened(first) == [4])
    #expect(try channel.responder.opened(late) == [3])
    #expect(throws: NoiseError.replayed(UInt64(changes) * 1_024)) { try channel.responder.opened(first) }
  }

  @Test func aForgedCounterOfTheNextKeyChangesNothing() throws {
    var channel = try P256Channel.made(rekeyInterval: 1_024)
    var forged = try channel.initiator.sealed([1])
    let genuine = forged
    forged[6] = 4  // counter 1,024
    let before = channel.responder.image
    #expect(throws: NoiseError.notAuthentic) { try channel.responder.opened(forged) }
    #expect(channel.responder.image == before)
    #expect(try channel.responder.opened(genuine) == [1])
    for _ in 0..<1_100 { _ = try channel.initiator.sealed([]) }
    let later = try channel.initiator.sealed([3])
    #expect(try channel.responder.opened(later) == [3])
  }

  @Test func aForgedCounterFarAheadCostsNoWork() throws {
    var channel = try P256Channel.made(rekeyInterval: 1_024)
    var forged = try channel.initiator.sealed([1])
    let counter = (NoiseLimits.keysAhead + 1) * 1_024
    for index in 0..<8 { forged[index] = UInt8(truncatingIfNeeded: counter >> (56 - 8 * UInt64(index))) }
    #expect(throws: NoiseError.tooFarAhead(counter)) { try channel.responder.opened(forged) }
  }

  @Test func rekeyByHandFollowsOnBothSides() throws {
    var channel = try P256Channel.made()
    let old = try channel.initiator.sealed([1])
    try channel.initiator.rekeySending()
    let new = try channel.initiator.sealed([2])
    #expect(try channel.responder.opened(old) == [1])
    #expect(throws: NoiseError.notAuthentic) { try channel.responder.opened(new) }
    try channel.responder.rekeyReceiving()
    #expect(try channel.responder.opened(new) == [2])
  }

  @Test func theLastCounterIsNeverUsed() throws {
    var channel = try P256Channel.made()
    channel.initiator.setSendingCounter(.max - 1)
    let last = try channel.initiator.sealed([1])
    #expect(try channel.responder.opened(last) == [1])
    for _ in 0..<3 { #expect(throws: NoiseError.counterExhausted) { try channel.initiator.sealed([2]) } }
    let reserved = [UInt8](repeating: 0xFF, count: 8) + last.dropFirst(8)
    #expect(throws: NoiseError.counterExhausted) { try channel.responder.opened(reserved) }

    let key = [UInt8](repeating: 1, count: 32)
    var state = try CipherState<ChaChaPoly>.keyed(key.rawSpan)
    state.setCounter(.max)
    var buffer: [UInt8] = []
    #expect(throws: NoiseError.counterExhausted) {
      try state.encryptWithAd(RawSpan(), [1].rawSpan, appendingTo: &buffer)
    }
    #expect(throws: NoiseError.counterExhausted) {
      try state.decryptWithAd(RawSpan(), last.rawSpan, appendingTo: &buffer)
    }
    #expect(buffer.isEmpty)
  }
}
