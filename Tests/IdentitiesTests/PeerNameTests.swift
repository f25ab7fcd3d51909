import Identities
import TestKit
import Testing

struct PeerNameTests {
  private func outcome(_ text: String) -> Result<PeerName, PeerNameError> {
    do throws(PeerNameError) { return .success(try PeerName(text)) } catch { return .failure(error) }
  }

  @Test(arguments: ["A", "Ada", "Ада", "東京の猫", "a b", "👨‍👩‍👧", "0", "é", String(repeating: "x", count: 32)])
  func everyScriptIsAName(text: String) {
    #expect((try? PeerName(text))?.text == text)
  }

  @Test func theLimitIsExact() {
    let text = String(repeating: "é", count: 16)
    #expect(text.utf8.count == 32)
    #expect((try? outcome(text).get()) != nil)
    #expect(outcome(text + "x") == .failure(.tooLong(byteCount: 33, limit: 32)))
    #expect(outcome("") == .failure(.empty))
  }

  @Test func controlAndDirectionCharactersAreRefused() {
    let forbidden: [UInt32] =
      Array(0...0x1F) + Array(0x7F...0x9F) + [0x061C, 0x200E, 0x200F] + Array(0x202A...0x202E)
      + Array(0x200B...0x200F) + [0x2028, 0x2029] + Array(0x2060...0x206F)
      + [0xAD, 0x034F, 0x115F, 0x180B, 0x180E, 0x3164, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF9, 0x1D173, 0xE0041]
    for value in forbidden {
      let text = "a\(Character(Unicode.Scalar(value)!))b"
      #expect(outcome(text) == .failure(.forbidden(scalar: value)))
      #expect(throws: PeerNameError.forbidden(scalar: value)) { try PeerName(cutting: text) }
    }
    for value: UInt32 in [0x20, 0x7E, 0xA0, 0x061B, 0x061D, 0x2010, 0x202F] {
      #expect((try? PeerName("a\(Character(Unicode.Scalar(value)!))b")) != nil, "\(value)")
    }
  }

  @Test(arguments: ["\u{200B}", "\u{2060}\u{FEFF}", "\u{3164}", "\u{1F468}\u{200D}", "a\u{200D}\u{1F468}"])
  func whatNobodySeesIsNoName(text: String) { #expect(throws: PeerNameError.self) { try PeerName(text) } }

  @Test func roomsAreNoNames() {
    #expect(outcome("#public") == .failure(.likeRoom))
    #expect((try? PeerName("C#")) != nil)
  }

  /// Cyrillic, Greek, wide and capital letters in the place of those of "paypal one".
  @Test(arguments: [
    "PayPal One", "p\u{430}yp\u{430}l one", "\u{3C1}aypal \u{3BF}ne", "\u{FF50}aypal one", "\u{420}AYPAL ONE",
    "paypal\u{A0}one",
  ])
  func aNameThatIsTakenForAnotherBearsIt(text: String) throws {
    #expect(try PeerName(text).bears(PeerName("paypal one")))
  }

  @Test(arguments: ["paypal on", "paypal", "p\u{E4}ypal one"])
  func anotherNameIsAnother(text: String) throws { #expect(try !PeerName(text).bears(PeerName("paypal one"))) }

  @Test func namesLikeIDsAreKnown() throws {
    for text in ["deadbeef", "0123456789ABCDEF", "\u{FF10}1234567", "d\u{435}adbeef"] {
      #expect(try PeerName(text).isLikeID, "\(text)")
    }
    for text in ["dead", "deadbee", "deadbeefs", "cafe babe"] { #expect(try !PeerName(text).isLikeID, "\(text)") }
  }

  @Test(arguments: [" a", "a ", "\u{3000}a", "a\u{A0}", " "])
  func whiteSpaceAroundIsRefused(text: String) {
    #expect(outcome(text) == .failure(.surroundingWhiteSpace))
  }

  @Test func longNamesAreCutBetweenCharacters() throws {
    let family = "👨‍👩‍👧‍👦"
    #expect(family.utf8.count == 25)
    #expect(try PeerName(cutting: "abcdefg" + family).text == "abcdefg" + family)
    #expect(try PeerName(cutting: "abcdefgh" + family).text == "abcdefgh")
    #expect(try PeerName(cutting: String(repeating: "x", count: 31) + "é").text == String(repeating: "x", count: 31))
    #expect(try PeerName(cutting: "  Ada  ").text == "Ada")
    #expect(try PeerName(cutting: String(repeating: "x", count: 31) + " y").text == String(repeating: "x", count: 31))
    #expect(throws: PeerNameError.empty) { try PeerName(cutting: "   ") }
    #expect(throws: PeerNameError.empty) { try PeerName(cutting: "") }
    let heap = "a" + String(repeating: "\u{301}", count: 20)
    #expect(throws: PeerNameError.tooLong(byteCount: 41, limit: 32)) { try PeerName(cutting: heap) }
  }

  @Test func equalityIsCanonicalEquivalence() throws {
    let composed = try PeerName("Zo\u{EB}")
    let decomposed = try PeerName("Zoe\u{308}")
    #expect(composed == decomposed)
    #expect(composed.hashValue == decomposed.hashValue)
    #expect(Array(composed.text.utf8) != Array(decomposed.text.utf8))
  }

  @Test func anyTextIsANameOrAnErrorAndCuttingNeverExceeds() {
    let seed: UInt64 = 77
    var generator = SeededGenerator(seed: seed)
    for round in 0..<3_000 {
      let bytes = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        UInt8.random(in: .min ... .max, using: &generator)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      if let name = try? PeerName(cutting: text) {
        #expect(name.text.utf8.count <= 32, "seed \(seed) round \(round)")
        #expect((try? PeerName(name.text)) == name)
      }
    }
  }
}

struct PeerIconTests {
  @Test(arguments: ["", "🦊", "❤️", "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈", "#️⃣", "☎️"])
  func oneEmojiOrNothing(text: String) {
    #expect((try? PeerIcon(text))?.text == text)
  }

  @Test(arguments: [
    "a", "1", "🦊🦊", "🦊 ", " ", "e\u{301}", "1\u{FE0F}", "🇩", "☎", "\u{200D}", "\u{FE0F}", "©", "a\u{20E3}", "\n",
    "🦊\u{301}",
  ])
  func anythingElseIsRefused(text: String) {
    #expect(throws: PeerIconError.notOneEmoji) { try PeerIcon(text) }
  }

  @Test func tooManyBytesAreRefused() {
    let long = "👩🏽‍❤️‍💋‍👨🏽"
    #expect(long.count == 1)
    #expect(throws: PeerIconError.tooLong(byteCount: long.utf8.count, limit: 32)) { try PeerIcon(long) }
  }
}
