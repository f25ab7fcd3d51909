import Bytes
import Foundation
import Identities
import Primitives
import Testing

struct GoldenCardTests {
  @Test func theCardInTheDocumentationVerifies() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Modules/WireFormat/WireFormat.docc/WireFormat.md")
    let text = try String(contentsOf: file, encoding: .utf8)
    func vector(_ name: String) throws -> [UInt8] {
      let block = try #require(
        text.components(separatedBy: "vector \(name)\n").last?.components(separatedBy: "```").first)
      return try #require(Hex.decode(block.filter { !$0.isWhitespace }))
    }
    let bytes = try vector("card")
    let card = try VerifiedCard(verifying: bytes.rawSpan)
    #expect(card.encoded == bytes)
    #expect(card.id.bytes == (try vector("peer-id")))
    #expect(card.id == (try PeerID(signingKey: P256PublicKey(vector("signing-key")))))
    #expect(card.printed == "Ada bf0db3a1")
    #expect(card.card.icon.text == "🦊" && card.card.sequence == 7 && card.card.capabilities == .alwaysOn)
    #expect(card.card.issued == start && card.card.prekey.id == 3 && card.card.prekey.sealUntil == start + 48 * hour)
  }
}
