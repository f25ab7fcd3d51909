/// Why a text is no name.
package enum PeerNameError: Error, Equatable, Hashable, Sendable {
  case empty
  /// More bytes of UTF-8 than a name may have.
  case tooLong(byteCount: Int, limit: Int)
  /// A control character, one that changes the direction of writing, or one that nobody sees; its number in Unicode.
  case forbidden(scalar: UInt32)
  /// It begins with `#`, as rooms do.
  case likeRoom
  /// White space at the beginning or the end.
  case surroundingWhiteSpace
}

/// What a peer calls itself: 1 to 32 bytes of UTF-8, any script, no control and no direction characters, none that
/// nobody sees (Unicode, Default_Ignorable_Code_Point) but inside an emoji, no white space around it, no `#` first.
///
/// Two names are equal when they are canonically equivalent, however they were composed; the bytes stay as given,
/// because they are signed.
package struct PeerName: Hashable, Sendable {
  package let text: String

  /// Refuses what is not a name.
  package init(_ text: String) throws(PeerNameError) {
    try Self.checkScalars(of: text)
    let byteCount = text.utf8.count
    guard byteCount > 0 else { throw .empty }
    guard byteCount <= IdentitiesLimits.nameByteCount else {
      throw .tooLong(byteCount: byteCount, limit: IdentitiesLimits.nameByteCount)
    }
    guard text.first?.isWhitespace == false, text.last?.isWhitespace == false else { throw .surroundingWhiteSpace }
    guard text.unicodeScalars.first != "#" else { throw .likeRoom }
    self.text = text
  }

  /// Drops white space around `text` and cuts what is too long between two characters as people see them. Control
  /// characters are refused all the same: a name is shortened, never rewritten.
  package init(cutting text: String) throws(PeerNameError) {
    try Self.checkScalars(of: text)
    let start = text.firstIndex { !$0.isWhitespace } ?? text.endIndex
    var end = start
    var kept = start
    while end < text.endIndex {
      let next = text.index(after: end)
      guard text[start..<next].utf8.count <= IdentitiesLimits.nameByteCount else { break }
      if !text[end].isWhitespace { kept = next }
      end = next
    }
    guard start < text.endIndex else { throw .empty }
    guard start < kept else {
      throw .tooLong(byteCount: text[start...].utf8.count, limit: IdentitiesLimits.nameByteCount)
    }
    try self.init(String(text[start..<kept]))
  }

  private static func checkScalars(of text: String) throws(PeerNameError) {
    for character in text {
      let scalars = character.unicodeScalars
      guard let first = scalars.first, let last = scalars.last else { continue }
      // What joins and colours an emoji is part of what is seen, unless it joins to nothing.
      let isEmoji = !first.isASCII && first.properties.isEmoji && last.value != joiner
      for scalar in scalars where isForbidden(scalar) && !(isEmoji && isOfEmoji(scalar)) {
        throw .forbidden(scalar: scalar.value)
      }
    }
  }

  private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7E: false
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true
    default: scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  private static func isOfEmoji(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case joiner, 0xFE0F, 0xE0020...0xE007F: true
    default: false
    }
  }

  private static let joiner: UInt32 = 0x200D
}
