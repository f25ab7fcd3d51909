/// Why a fragment was not taken. The packet it belongs to goes on waiting.
package enum FragmentRefusal: Hashable, Sendable {
  /// Another count than the first fragment of this packet said.
  case conflictingCount
  /// Fragments of one packet that are not of one size, or a last one that is larger.
  case conflictingSize
  /// A fragment that came before, with other bytes.
  case conflictingData
  /// The whole would be beyond the largest packet.
  case packetTooLarge
}

/// Why a packet in pieces was given up.
package enum ReassemblyDrop: Hashable, Sendable {
  /// No new fragment for 30 s.
  case timedOut
  /// The link has more packets in pieces than it may; this one waited longest.
  case tooManyBuffers
  /// The link's memory is used up; this one waited longest.
  case linkMemory
  /// All memory is used up; this one waited longest on the link that took most.
  case totalMemory
  /// The pieces make no packet.
  case notAPacket(WireError)
  /// The pieces make another packet than their key says.
  case wrongKey
  /// The ID could not be computed.
  case noDigest
}

/// A packet in pieces that was given up, with the bytes it had.
package struct DroppedReassembly: Hashable, Sendable {
  package let link: UInt64
  package let key: UInt64
  package let reason: ReassemblyDrop
  package let byteCount: Int

  package init(link: UInt64, key: UInt64, reason: ReassemblyDrop, byteCount: Int) {
    self.link = link
    self.key = key
    self.reason = reason
    self.byteCount = byteCount
  }
}

/// What came of one fragment.
package enum FragmentOutcome: Hashable, Sendable {
  /// Kept; more are missing.
  case kept
  /// The last one: here is the packet with its recomputed ID.
  case completed(Packet, PacketID)
  /// It was there already.
  case duplicate
  /// Its packet is complete already.
  case late
  case refused(FragmentRefusal)
  /// The packet was complete and not what it claimed; `dropped` says why.
  case dropped
}

/// What came of one fragment, and what had to make room.
package struct ReassemblyResult: Hashable, Sendable {
  package let outcome: FragmentOutcome
  package let dropped: [DroppedReassembly]
}

/// Fragments to ask a neighbour for.
package struct MissingFragments: Hashable, Sendable {
  package let link: UInt64
  package let key: UInt64
  package let ranges: [FragmentRange]

  package init(link: UInt64, key: UInt64, ranges: [FragmentRange]) {
    self.link = link
    self.key = key
    self.ranges = ranges
  }

  package var frame: LinkFrame { .fragmentRequest(key: key, ranges: ranges) }
}
