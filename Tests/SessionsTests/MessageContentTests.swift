import TestKit
import Testing

@testable import Sessions

@Suite struct MessageContentTests {
  let id = MessageID(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f)

  func failure(_ bytes: [UInt8]) -> MessageContentError? {
    do throws(MessageContentError) {
      _ = try MessageContent(decoding: bytes)
      return nil
    } catch {
      return error
    }
  }

  @Test func everySubstanceHasItsBytes() throws {
    let head = (0..<16).map { UInt8($0) }
    let golden: [(MessageContent, [UInt8])] = [
      (MessageContent(id: id, flags: .bot, substance: .text("hé")), head + [1, 1, 0x68, 0xc3, 0xa9]),
      (MessageContent(id: id, substance: .ping(token: 0x0102)), head + [2, 0, 0, 0, 0, 0, 0, 0, 1, 2]),
      (
        MessageContent(id: id, flags: .echo, substance: .pong(token: 1, hops: 3, route: [0xA0B0_C0D0])),
        head + [3, 2, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0xA0, 0xB0, 0xC0, 0xD0]
      ),
    ]
    for (content, bytes) in golden {
      #expect(content.encoded == bytes)
      #expect(try MessageContent(decoding: bytes) == content)
    }
  }

  @Test func textIsBoundedToTheByte() throws {
    let head = MessageContent(id: id, substance: .text("x")).encoded.dropLast()
    #expect(failure(Array(head)) == .empty)
    let longest = [UInt8](repeating: 0x78, count: SessionsLimits.textBytes)
    #expect(failure(head + longest) == nil)
    #expect(failure(head + longest + [0x78]) == .tooLong(byteCount: SessionsLimits.textBytes + 1))
    #expect(failure(head + [0xff]) == .notUTF8 && failure(head + [0xed, 0xa0, 0x80]) == .notUTF8)
  }

  @Test func aShortOrLongMessageIsRefused() {
    let ping = MessageContent(id: id, substance: .ping(token: 5)).encoded
    for count in 0..<ping.count { #expect(failure(Array(ping[..<count])) == .truncated, "\(count) bytes") }
    #expect(failure(ping + [0]) == .trailingBytes)
    let pong = MessageContent(id: id, substance: .pong(token: 5, hops: 1, route: Array(0..<15))).encoded
    #expect(failure(pong) == nil)
    for extra in 1...5 { #expect(failure(pong + [UInt8](repeating: 0, count: extra)) == .trailingBytes) }
    var unknown = ping
    for type: UInt8 in [0, 6, 255] {
      unknown[16] = type
      #expect(failure(unknown) == .unknownType(type))
    }
  }

  @Test func anyBytesGiveContentThatComesBackOrAnError() {
    let seed: UInt64 = 21
    var random = SeededGenerator(seed: seed)
    for round in 0..<50_000 {
      var bytes = (0..<Int.random(in: 0...90, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      if bytes.count > 17 { bytes[16] = UInt8.random(in: 0...4, using: &random) }
      if let content = try? MessageContent(decoding: bytes) {
        #expect(content.encoded == bytes, "seed \(seed), round \(round)")
      }
    }
  }

  @Test func aMessageIDIsHexadecimalDigitsOnly() {
    #expect(MessageID(hex: id.description) == id)
    #expect(MessageID(hex: "+" + id.description.dropFirst()) == nil)
    #expect(MessageID(hex: id.description.dropFirst()) == nil && MessageID(hex: id.description + "0") == nil)
  }
}
