/// Makes text from others safe to show: a terminal obeys control characters, and bidirectional controls make text read
/// as something else than it is.
package enum TerminalText {
  /// Every C0 control becomes its picture (`␛`), DEL `␡`, and C1 controls, line and paragraph separators and
  /// bidirectional controls become `<U+202E>`. Everything else is kept.
  package static func neutralised(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0...0x1F: result.unicodeScalars.append(Unicode.Scalar(0x2400 + scalar.value) ?? " ")
      case 0x7F: result.append("␡")
      case _ where isControl(scalar):
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result.append("<U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + ">")
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
