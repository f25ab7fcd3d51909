/// Which names people take for one another, and for an ID.
extension PeerName {
  /// The same for names that a hurried reader takes for one: without what nobody sees, in small letters, wide forms
  /// made plain, and the Greek and Cyrillic letters that look like Latin ones written as those. For comparison only.
  package var likeness: String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
      let plain = Self.plain(scalar)
      for small in plain.properties.lowercaseMapping.unicodeScalars { scalars.append(Self.twins[small] ?? small) }
    }
    return String(scalars)
  }

  /// Whether people would take one of the two names for the other.
  package func bears(_ other: PeerName) -> Bool { self == other || likeness == other.likeness }

  /// Whether it reads like an ID or the beginning of one as it is printed. Such a name names nobody.
  package var isLikeID: Bool { Self.isLikeID(likeness) }

  /// At least as many hexadecimal digits as are printed of an ID, and nothing else. Such a text is an ID, and never a
  /// name.
  package static func isLikeID(_ text: String) -> Bool {
    text.utf8.count >= IdentitiesLimits.prefixDigits
      && text.utf8.allSatisfy {
        UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "9")
          || UInt8(ascii: "a") <= $0 | 0x20 && $0 | 0x20 <= UInt8(ascii: "f")
      }
  }

  private static func plain(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    // Halfwidth and Fullwidth Forms repeat ASCII at this distance.
    case 0xFF01...0xFF5E: Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
    case 0xA0, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: " "
    case 0x2010...0x2015, 0x2212: "-"
    case 0x2018, 0x2019, 0x02BC: "'"
    default: scalar
    }
  }

  /// Small letters after Unicode's table of confusables (UTS #39), those of Greek and Cyrillic.
  private static let twins: [Unicode.Scalar: Unicode.Scalar] = [
    "а": "a", "ӑ": "ă", "ӓ": "ä", "в": "b", "ь": "b", "с": "c", "ԁ": "d", "е": "e", "ё": "ë", "ѐ": "è", "ԍ": "g",
    "һ": "h", "н": "h", "і": "i", "ї": "ï", "ј": "j", "к": "k", "ӏ": "l", "м": "m", "п": "n", "о": "o", "ӧ": "ö",
    "р": "p", "ԛ": "q", "г": "r", "ѕ": "s", "т": "t", "ц": "u", "ѵ": "v", "ԝ": "w", "х": "x", "у": "y", "ү": "y",
    "з": "3",
    "α": "a", "ά": "á", "β": "b", "ε": "e", "έ": "é", "η": "n", "ι": "i", "ί": "í", "ϊ": "ï", "κ": "k", "μ": "u",
    "ν": "v", "ο": "o", "ό": "ó", "ρ": "p", "τ": "t", "υ": "u", "χ": "x", "ζ": "z", "γ": "y", "ω": "w", "ϲ": "c",
    "ϳ": "j", "ı": "i", "ɑ": "a", "ɡ": "g", "ⅰ": "i", "ⅼ": "l", "ⅽ": "c", "ⅾ": "d", "ⅿ": "m", "ⅴ": "v", "ⅹ": "x",
  ]
}
