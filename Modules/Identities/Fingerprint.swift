internal import Bytes
package import Primitives

/// What two people compare to know that nobody stands between them: the same sixty digits on both sides.
///
/// 200 bits of SHA-256(`relaychat/fingerprint/1` ‖ the lower PeerID ‖ the higher PeerID) as a number below 10^60, in twelve
/// groups of five digits. It is of two peers and not of one, so a digit read aloud says nothing that helps a third.
/// There is no shorter form: fewer digits could be matched by trying.
package struct Fingerprint: Hashable, Sendable, CustomStringConvertible {
  /// Twelve groups of five digits.
  package let groups: [String]

  package init(_ one: PeerID, _ other: PeerID) throws(PrimitiveError) {
    let (low, high) = one < other ? (one, other) : (other, one)
    let pair = low.bytes + high.bytes
    let digest = try SHA256.digest(label: .fingerprint, pair.rawSpan)
    var number = Array(digest.bytes.prefix(25))
    var groups: [String] = []
    for _ in 0..<12 {
      var remainder = 0
      for index in number.indices {
        let value = remainder << 8 | Int(number[index])
        number[index] = UInt8(value / 100_000)
        remainder = value % 100_000
      }
      let digits = String(remainder)
      groups.insert(String(repeating: "0", count: 5 - digits.count) + digits, at: 0)
    }
    self.groups = groups
  }

  package var description: String { groups.joined(separator: " ") }
}
