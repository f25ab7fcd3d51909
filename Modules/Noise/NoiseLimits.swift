/// Limits of this module, each with its reason.
package enum NoiseLimits {
  /// Bytes of one Noise message, handshake or transport, without a counter in front (revision 34 section 3).
  package static let messageByteCount = 65_535

  /// Counters behind the newest that are still taken. Links keep their order, so this only has to cover frames that a
  /// radio's queues hand over late; 1,024 costs 128 bytes a direction.
  package static let replayWindow: UInt64 = 1_024

  /// Changes of keys that a message may lie ahead: as many in a row may be lost with every message under them. Each
  /// costs whoever forges a counter one derivation of ours, about a microsecond.
  package static let keysAhead: UInt64 = 8

  /// The counter that is never a message's: its nonce makes the next key (revision 34 section 4.2).
  package static let reservedCounter = UInt64.max

  /// Bytes of a preshared key (revision 34 section 9).
  package static let presharedKeyByteCount = 32

  /// Bytes of a counter in front of a transport message.
  package static let counterByteCount = 8
}
