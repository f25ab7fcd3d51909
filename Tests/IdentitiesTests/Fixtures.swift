import Bytes
import Identities
import Primitives

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
