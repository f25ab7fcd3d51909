import Bytes
import Identities
import Primitives

struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed &>> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed &>> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed &>> 31)
  }
}

let hour: UInt64 = 3_600_000
let start: UInt64 = 1_800_000_000_000

func makeKeys(now: UInt64 = start) throws -> IdentityKeys {
  try IdentityKeys(generatedFrom: .system, now: now)
}

func makeCard(
  _ keys: borrowing IdentityKeys, name: String = "Ada", icon: String = "🦊", capabilities: Capabilities = [],
  sequence: UInt64 = 1, now: UInt64 = start
) throws -> VerifiedCard {
  try keys.makeCard(
    name: PeerName(name), icon: PeerIcon(icon), capabilities: capabilities, sequence: sequence, now: now)
}
