import Bytes
import FuzzSupport
import Identities
import WireFormat

/// Any text is a name, an icon, hexadecimal digits and an ID, or is refused; what is taken comes back.
private let fuzzer = Fuzzer(
  seeds: {
    [
      "Ada", "Zoë", "東京の猫", "👨‍👩‍👧‍👦", "🇩🇪", "1️⃣", "☎️", "00ff", "0123456789abcdefABCDEF0011223344",
      "00000000000000000000000000000000", " a ", "\u{202E}x",
      "a\u{7}",
    ]
    .enumerated().map { ("text-\($0.offset)", Array($0.element.utf8)) }
  },
  test: { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let name = try? PeerName(text) {
      require(name.text.utf8.count <= IdentitiesLimits.nameByteCount, "a name fits")
      require((try? PeerName(cutting: text)) == name, "a name that fits is not cut")
    }
    if let cut = try? PeerName(cutting: text) {
      require((try? PeerName(cut.text)) == cut, "what was cut is a name")
      require(text.contains(cut.text), "a name is shortened, never rewritten")
    }
    if let icon = try? PeerIcon(text) { require(icon.text == text && text.count <= 1, "an icon is one character") }
    if let decoded = Hex.decode(text) {
      require(Hex.encode(decoded) == text.lowercased(), "hexadecimal digits come back")
    }
    if let id = PeerID(hex: text) {
      require(id.description == text.lowercased(), "an ID comes back")
      require(id.bytes == Hex.decode(text), "an ID is its bytes")
      require(!(id < id) && PeerID(high: 0, low: 0) <= id, "IDs are in order")
      require(id.shortHex.hasPrefix(Hex.encode(id.bytes.prefix(4))) && id.tag >> 32 == id.routeEntry, "its parts agree")
      require(id.printed(name: nil) == id.shortHex, "a peer without a name is its ID")
    }
    require((PacketID(hex: text) == nil) == (PeerID(hex: text) == nil), "both IDs are 16 bytes")
  })

@_cdecl("FuzzText_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
