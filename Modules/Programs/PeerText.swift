import Arguments
package import ControlAPI
import Glibc

/// How peers and messages look in print. Everything that comes from others is neutralised.
package enum PeerText {
  /// The name, then eight digits of the ID. A name that is like an ID is not shown: it names nobody.
  package static func name(_ peer: PeerReference) -> String {
    let digits = String(peer.id.prefix(8))
    let name = shownName(peer.name)
    return name.isEmpty ? digits : "\(name) \(digits)"
  }

  /// A name as it is shown: empty when it has eight hexadecimal digits or more and nothing else.
  package static func shownName(_ name: String) -> String {
    let isLikeID =
      name.utf8.count >= 8
      && name.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0 | 0x20) }
    return isLikeID ? "" : TerminalText.neutralised(name)
  }

  /// `12:03:04 #public Ann 1a2b3c4d: hello  (3 hops: B, C)`; `[old]` before the text of what was said long before it came.
  package static func line(_ message: MessageRecord) -> String {
    let place =
      message.room.map { TerminalText.neutralised($0) }
      ?? (message.isOwn ? message.to.map { "to \(name($0))" } : nil) ?? "personal"
    let bot = message.fromIsBot ? " [bot]" : ""
    var line = "\(time(message.receivedTime)) \(place) \(name(message.from))\(bot)\(message.isLate ? " [old]" : ""): "
    line += TerminalText.neutralised(message.text)
    if message.hops > 0 {
      let path = message.path.map { TerminalText.neutralised($0) }.joined(separator: ", ")
      line += "  (\(message.hops) \(message.hops == 1 ? "hop" : "hops")\(path.isEmpty ? "" : ": " + path))"
    }
    return line
  }

  /// What has become of a contact's name. When another key bears it both fingerprints are there, to be compared.
  package static func line(_ contact: ContactRecord) -> String {
    let name = name(PeerReference(id: contact.id, name: contact.name))
    guard let rival = contact.rivalID else { return "\(name) is the name of a contact now" }
    let rivalDigits = TerminalText.neutralised(contact.rivalFingerprint ?? "")
    return "\(name) (fingerprint \(TerminalText.neutralised(contact.fingerprint))): another key bears this name, "
      + "\(TerminalText.neutralised(String(rival.prefix(8)))) (fingerprint \(rivalDigits)); nothing is sent to the name "
      + "until relaychat trust ID says who is meant"
  }

  /// The time of day here, `HH:MM:SS`.
  package static func time(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1_000)
    var parts = unsafe tm()
    unsafe localtime_r(&seconds, &parts)
    return unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(
      separator: ":")
  }

  /// Day and time here, `YYYY-MM-DD HH:MM:SS`.
  ///
  /// - Parameter milliseconds: since 1970.
  package static func moment(_ milliseconds: UInt64) -> String {
    var seconds = time_t(Int64(clamping: milliseconds / 1_000))
    var parts = unsafe tm()
    guard unsafe localtime_r(&seconds, &parts) != nil else { return "at an unknown time" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = unsafe "\(Int(parts.tm_year) + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    return day + " " + time(Int64(clamping: milliseconds))
  }

  /// Seconds in the unit that says enough: `12 s`, `5 min`, `3 h`, `2 d`.
  package static func age(_ seconds: Double) -> String {
    let whole = seconds.isFinite ? Int(min(max(0, seconds), 1e9)) : 0
    switch whole {
    case ..<100: return "\(whole) s"
    case ..<6_000: return "\(whole / 60) min"
    case ..<172_800: return "\(whole / 3_600) h"
    default: return "\(whole / 86_400) d"
    }
  }
}

/// Rows under a head, in columns that are as wide as they must be.
package struct TextTable {
  private var rows: [[String]]

  package init(_ head: [String]) { rows = [head] }

  package mutating func add(_ row: [String]) { rows.append(row.map { TerminalText.neutralised($0) }) }

  package var lines: [String] {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        if column == widths.count { widths.append(0) }
        widths[column] = max(widths[column], cell.count)
      }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let isLast = column == row.count - 1
        line += isLast ? cell : cell + String(repeating: " ", count: widths[column] - cell.count + 2)
      }
      return line
    }
  }
}
