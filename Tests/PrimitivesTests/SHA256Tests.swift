import Bytes
import Primitives
import Testing

struct SHA256Tests {
  @Test func knownDigestsMatch() throws {
    let cases: [(String, String)] = [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ]
    var hasher = try SHA256Hasher()
    for (text, expected) in cases {
      #expect(Hex.encode(try SHA256.digest(Array(text.utf8)).bytes) == expected)
      try hasher.update(Array(text.utf8))
      let reused = try hasher.finish()
      #expect(Hex.encode(reused.bytes) == expected)
    }
  }

  @Test func piecesHashLikeTheWhole() throws {
    let whole = (0..<300).map { UInt8($0 % 251) }
    let expected = try SHA256.digest(whole)
    var hasher = try SHA256Hasher()
    for cut in [0, 1, 63, 64, 65, 299, 300] {
      try hasher.update(Array(whole[..<cut]))
      try hasher.update(Array(whole[cut...]))
      let digest = try hasher.finish()
      #expect(digest == expected)
    }
  }

  @Test func aLabelComesFirstAndDropsWhatWasUnfinished() throws {
    var hasher = try SHA256Hasher()
    try hasher.update([1, 2, 3])
    let digest = try hasher.digest(label: .card, [9].rawSpan)
    #expect(digest == (try SHA256.digest(Array("relaychat/card/1".utf8) + [9])))
    let empty = try hasher.finish()
    #expect(empty == (try SHA256.digest([UInt8]())))
  }

  @Test func noLabelBeginsAnother() {
    let texts = DomainLabel.all.map { "\($0.text)" }
    for (index, text) in texts.enumerated() {
      #expect(text.hasPrefix("relaychat/") && text.allSatisfy(\.isASCII))
      for (other, longer) in texts.enumerated() where other != index {
        #expect(!longer.hasPrefix(text))
      }
    }
  }
}
