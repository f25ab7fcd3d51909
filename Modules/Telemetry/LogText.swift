/// Turns text into a form that can neither break a line of the log nor steer a terminal.
enum LogText {
  /// Appends `text`; every control character, line separator and bidirectional control becomes an escape.
  /// Quotes are added when `isQuoted` or when the text has a space, a quote, `=` or is empty.
  static func append(_ text: String, isQuoted: Bool = false, to line: inout String) {
    let needsQuotes = isQuoted || text.isEmpty || text.unicodeScalars.contains(where: isSpecial)
    if needsQuotes { line.append("\"") }
    var size = 0
    for scalar in text.unicodeScalars {
      size += UTF8.width(scalar)
      guard size <= TelemetryLimits.bytesPerValue else {
        line.append("…")
        break
      }
      append(scalar, to: &line)
    }
    if needsQuotes { line.append("\"") }
  }

  /// The escapes are valid in JSON too.
  private static func append(_ scalar: Unicode.Scalar, to line: inout String) {
    switch scalar {
    case "\"": line.append("\\\"")
    case "\\": line.append("\\\\")
    case "\n": line.append("\\n")
    case "\r": line.append("\\r")
    case "\t": line.append("\\t")
    default:
      if isControl(scalar) {
        let digits = String(scalar.value, radix: 16)
        line.append("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
      } else {
        line.unicodeScalars.append(scalar)
      }
    }
  }

  private static func isSpecial(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\"" || scalar == "=" || scalar == "\\" || isControl(scalar)
  }

  /// C0, DEL, C1, line and paragraph separators, bidirectional controls: all of them below U+10000.
  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
