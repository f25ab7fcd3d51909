package import WireFormat

/// SipHash-2-4 of a `PacketID` under a secret of this node (Aumasson and Bernstein, 2012).
///
/// A remembered packet is told by 64 bits. Without the secret a stranger could compute two packets that share them
/// and so hide one behind the other; with it a false duplicate among 2^18 has a chance of 2^-46 a packet.
package struct KeyedHash: Sendable {
  private let key0: UInt64
  private let key1: UInt64

  package init(key0: UInt64, key1: UInt64) {
    self.key0 = key0
    self.key1 = key1
  }

  /// The hash of the 16 bytes of `id`, in the byte order they have on the wire.
  package func callAsFunction(_ id: PacketID) -> UInt64 {
    var lanes = Lanes(key0: key0, key1: key1)
    lanes.absorb(id.high.byteSwapped)
    lanes.absorb(id.low.byteSwapped)
    lanes.absorb(16 << 56)
    return lanes.finish()
  }

  /// The hash of the 8 bytes of a key, in the byte order they have on the wire.
  package func callAsFunction(_ key: UInt64) -> UInt64 {
    var lanes = Lanes(key0: key0, key1: key1)
    lanes.absorb(key.byteSwapped)
    lanes.absorb(8 << 56)
    return lanes.finish()
  }

  private struct Lanes {
    var v0: UInt64
    var v1: UInt64
    var v2: UInt64
    var v3: UInt64

    init(key0: UInt64, key1: UInt64) {
      v0 = key0 ^ 0x736f_6d65_7073_6575
      v1 = key1 ^ 0x646f_7261_6e64_6f6d
      v2 = key0 ^ 0x6c79_6765_6e65_7261
      v3 = key1 ^ 0x7465_6462_7974_6573
    }

    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func finish() -> UInt64 {
      v2 ^= 0xff
      for _ in 0..<4 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    mutating func round() {
      v0 = v0 &+ v1
      v1 = (v1 << 13 | v1 >> 51) ^ v0
      v0 = v0 << 32 | v0 >> 32
      v2 = v2 &+ v3
      v3 = (v3 << 16 | v3 >> 48) ^ v2
      v0 = v0 &+ v3
      v3 = (v3 << 21 | v3 >> 43) ^ v0
      v2 = v2 &+ v1
      v1 = (v1 << 17 | v1 >> 47) ^ v2
      v2 = v2 << 32 | v2 >> 32
    }
  }
}
