/// Why a text is no icon.
package enum PeerIconError: Error, Equatable, Hashable, Sendable {
  /// More bytes of UTF-8 than an icon may have.
  case tooLong(byteCount: Int, limit: Int)
  /// Not exactly one emoji.
  case notOneEmoji
}

/// The picture beside a name: one emoji of at most 32 bytes, or none.
package struct PeerIcon: Hashable, Sendable {
  /// One character, or empty.
  package let text: String

  package static let none = PeerIcon()

  package var isEmpty: Bool { text.isEmpty }

  private init() { text = "" }

  /// Refuses what is neither empty nor one emoji (UTS #51: a presentation or keycap sequence, a flag, or emoji
  /// joined to one).
  package init(_ text: String) throws(PeerIconError) {
    let byteCount = text.utf8.count
    guard byteCount <= IdentitiesLimits.iconByteCount else {
      throw .tooLong(byteCount: byteCount, limit: IdentitiesLimits.iconByteCount)
    }
    guard byteCount == 0 || Self.isOneEmoji(text) else { throw .notOneEmoji }
    self.text = text
  }

  private static func isOneEmoji(_ text: String) -> Bool {
    guard text.count == 1 else { return false }
    let scalars = Array(text.unicodeScalars)
    let first = scalars[0]
    guard first.properties.isEmoji, scalars.dropFirst().allSatisfy(continues) else { return false }
    if first.isASCII { return scalars.last?.value == keycap && scalars.count <= 3 }
    if isRegional(first) { return scalars.count == 2 && isRegional(scalars[1]) }
    return first.properties.isEmojiPresentation || scalars.dropFirst().first?.value == pictureSelector
  }

  private static func continues(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case joiner, pictureSelector, keycap, 0xE0020...0xE007F: true
    default: !scalar.isASCII && scalar.properties.isEmoji
    }
  }

  private static func isRegional(_ scalar: Unicode.Scalar) -> Bool {
    (0x1F1E6...0x1F1FF).contains(scalar.value)
  }

  private static let joiner: UInt32 = 0x200D
  private static let pictureSelector: UInt32 = 0xFE0F
  private static let keycap: UInt32 = 0x20E3
}
