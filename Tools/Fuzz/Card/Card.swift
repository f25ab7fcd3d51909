import Bytes
import FuzzSupport
import Identities
import Primitives

private let own: VerifiedCard? = try? IdentityKeys(generatedFrom: .system, now: 1).makeCard(
  name: PeerName("Own"), icon: .none, capabilities: [], sequence: 1, now: 1)

/// Any bytes are a card or an error; a card has these bytes and no others.
private let fuzzer = Fuzzer(
  seeds: {
    let keys = try IdentityKeys(generatedFrom: .system, now: 1_800_000_000_000)
    return try [("plain", "Ada", ""), ("emoji", "Ада", "🦊"), ("long", String(repeating: "é", count: 16), "👨‍👩‍👧‍👦")]
      .map { name, text, icon in
        let card = try keys.makeCard(
          name: PeerName(text), icon: PeerIcon(icon), capabilities: .bot, sequence: 3, now: 1_800_000_000_000)
        return (name, card.encoded)
      }
  },
  test: { bytes in
    guard let card = try? Card(decoding: bytes.rawSpan) else {
      return require((try? VerifiedCard(verifying: bytes.rawSpan)) == nil, "what is no card is not verified")
    }
    require(card.encoded == bytes, "a card has one encoding")
    require(own?.encoded != bytes, "nobody else makes our card")
    require(Card.byteCounts.contains(bytes.count), "a card has its size")
    if let verified = try? VerifiedCard(verifying: bytes.rawSpan) {
      require(verified.encoded == bytes, "a verified card is the card")
      require(Set([verified, verified]).count == 1, "a card is itself")
      require(verified.printed.hasSuffix(verified.id.shortHex), "a peer is printed with its ID")
    }
  })

@_cdecl("FuzzCard_main")
func main(_ count: Int32, _ arguments: Arguments) -> Int32 { unsafe fuzzer.run(count, arguments) }
