import Bytes
import ControlAPI
import FuzzSupport
import Identities
import Programs
import WireFormat

/// The text of a code to scan.
private let code =
  "relaychat:verify?id=0b9e49db003df08feb60256d2e85fb1d"
  + "&check=012345678901234567890123456789012345678901234567890123456789"

private let own = "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"
private let ann = ContactRecord(
  id: "0b9e49db003df08feb60256d2e85fb1d", name: "Ann", state: .seen, isBlocked: false, rivalID: nil,
  fingerprint: Array(repeating: "01234 56789", count: 6).joined(separator: " "))

/// Any text is a name, an icon, hexadecimal digits, an ID and a scanned code, or is refused; what is taken comes back.
private let fuzzer = Fuzzer(
  seeds: {
    [
      "Ada", "Zoë", "東京の猫", "👨‍👩‍👧‍👦", "🇩🇪", "1️⃣", "☎️", "00ff", "0123456789abcdefABCDEF0011223344",
      "00000000000000000000000000000000", " a ", "\u{202E}x",
      "a\u{7}", code, " " + code.uppercased() + "&later=1\n", code + "&id=1", String(code.dropLast()),
      "relaychat:verify?id&check", "relaychat:verify?id=&check=", code + "&x",
      code.replacing("=0b9e49db003df08feb60256d2e85fb1d", with: "=" + own), code.replacing("=0b9", with: "=1b9"),
      code.replacing("=012", with: "=112"),
    ]
    .enumerated().map { ("text-\($0.offset)", Array($0.element.utf8)) }
  },
  test: { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    if let name = try? PeerName(text) {
      require(name.bears(name), "a name is taken for itself")
      if let like = try? PeerName(name.likeness) { require(like.bears(name), "what is like a name is like it") }
      require(name.isLikeID == PeerName.isLikeID(name.likeness), "an ID is one in any letters")
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
    if let scanned = VerificationText(scanned: text) {
      require(VerificationText(scanned: scanned.description) == scanned, "a code comes back")
      require(scanned.description == code || text != code, "a code is what it says")
      require(PeerID(hex: scanned.id)?.description == scanned.id, "a code has a whole ID")
      require(scanned.check.utf8.count == 60, "a code has all digits")
      let isAnns = scanned.description == code
      require((scanned.verdict(on: ann, ownID: own) == .matches) == isAnns, "only the right code matches")
      let shown = VerificationText(ownID: scanned.id, contact: ann)
      require(shown?.id == scanned.id, "an ID that was read can be shown")
    }
    require((PacketID(hex: text) == nil) == (PeerID(hex: text) == nil), "both IDs are 16 bytes")
  })

@_cdecl("FuzzText_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
