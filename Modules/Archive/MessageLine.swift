internal import Bytes
internal import Identities
internal import Sessions

/// A message as a line of JSON (RFC 8259), for an export:
///
///     {"number":7,"id":"…32 hex","in":"public","author":"…32 hex","name":"ada","bot":false,"echo":false,"late":false,
///      "sent":1800000000000,"stored":1800000000000,"hops":1,"path":[1,2],"state":"received","text":"…"}
///
/// `in` is `public` or the ID of the peer, times are milliseconds since 1970. The packet, which only the mesh can use,
/// is left out. All in one line, without its end.
enum MessageLine {
  static func text(of archived: ArchivedMessage) -> String {
    let message = archived.message
    let place = message.conversation.peer.map { Hex.encode($0.bytes) } ?? "public"
    var line = "{\"number\":\(archived.cursor.number),\"id\":\"\(Hex.encode(message.id.bytes))\",\"in\":\"\(place)\""
    line += ",\"author\":\"\(Hex.encode(message.author.bytes))\",\"name\":"
    quote(message.authorName, into: &line)
    line += ",\"bot\":\(message.isFromBot),\"echo\":\(message.isEcho),\"late\":\(message.isLate)"
    line += ",\"sent\":\(message.sentMilliseconds),\"stored\":\(message.storedMilliseconds),\"hops\":\(message.hops)"
    line += ",\"path\":[\(message.path.map { "\($0)" }.joined(separator: ","))]"
    line += ",\"state\":\"\(message.state.rawValue)\",\"text\":"
    quote(message.text, into: &line)
    return line + "}"
  }

  private static func quote(_ text: String, into line: inout String) {
    line += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": line += "\\\""
      case "\\": line += "\\\\"
      case "\n": line += "\\n"
      case "\r": line += "\\r"
      case "\t": line += "\\t"
      // Also what ends a line for some readers.
      case "\u{0}"..<"\u{20}", "\u{7F}", "\u{85}", "\u{2028}", "\u{2029}":
        let hex = String(scalar.value, radix: 16)
        line += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: line.unicodeScalars.append(scalar)
      }
    }
    line += "\""
  }
}
