/// Limits of the wire format, each with its reason. All sizes are in bytes, all times in milliseconds.
package enum WireLimits {
  /// Largest packet on any link: 87 frames of a good Bluetooth link, about a second of air.
  package static let packetByteCount = 32 * 1024

  /// Entries in a route: 60 bytes, enough for any path that a person would look at. Then a flag says it is cut.
  package static let routeEntryCount = 15

  /// Version, hops, age and route head.
  package static let mutableHeadByteCount = 7

  /// Kind, flags, time to live, time and the two tags.
  package static let identifiedHeadByteCount = 25

  /// r ‖ s of ECDSA P-256.
  package static let signatureByteCount = 64

  /// Largest identified region, so that a packet stays within its limit while relays write their route into it.
  package static let identifiedByteCount = packetByteCount - mutableHeadByteCount - 4 * routeEntryCount

  /// Largest body, with room for a signature whether there is one or not: one limit for every kind.
  package static let bodyByteCount = identifiedByteCount - identifiedHeadByteCount - signatureByteCount

  /// Smallest frame payload a link may offer: a 64-byte frame less 26 for length, counter and tag.
  package static let smallestPayloadByteCount = 38

  /// Largest frame payload that Bluetooth allows to be written at once; other transports may offer more.
  package static let bluetoothPayloadByteCount = 509 - 26

  /// Type, packet key, index and count.
  package static let fragmentHeadByteCount = 13

  /// Fragments of the largest packet on the smallest frames.
  package static let fragmentCount =
    (packetByteCount + smallestPayloadByteCount - fragmentHeadByteCount - 1)
    / (smallestPayloadByteCount - fragmentHeadByteCount)

  /// Keys in one acknowledgment, and keys or origins in one frame of types 64 to 67, 72 and 73: what the largest Bluetooth frame
  /// holds.
  package static let acknowledgedKeyCount = 60

  /// Milliseconds of the unit in which windows of packets that are compared begin: ten minutes.
  package static let windowUnit: UInt64 = 600_000

  /// Windows compared at once: ten minutes, an hour, and all before.
  package static let comparedWindowCount = 3

  /// Symbols in one frame: with their head 200 bytes, which any link of a modern adapter takes whole.
  package static let symbolCount = 15

  /// Ranges in one request: what the largest Bluetooth frame holds.
  package static let requestedRangeCount = 118

  /// Ranges of a request that fits the smallest frame.
  package static let smallestRequestRangeCount = 7

  /// Packets one link may have in pieces. A well-behaved neighbour sends a few at once, one per traffic class.
  package static let buffersPerLink = 32

  /// Memory that the pieces of one link may take: eight of the largest packets.
  package static let bufferedByteCountPerLink = 256 * 1024

  /// Memory that all pieces may take: eight links at their limit, of the 25 MB the daemon is to live in.
  package static let bufferedByteCount = 2 * 1024 * 1024

  /// What one fragment costs beside its bytes, and one buffer beside its fragments; charged, so that many small
  /// pieces cannot take more memory than a few large ones.
  package static let fragmentOverheadByteCount = 16
  package static let bufferOverheadByteCount = 128

  /// Without a new fragment for so long a packet is given up: the neighbour has left or will send it anew.
  package static let reassemblyPatience: UInt64 = 30_000

  /// Quiet time before missing fragments are asked for: several connection intervals of a slow link. It doubles with
  /// each request that brings nothing.
  package static let requestQuiet: UInt64 = 250

  /// Doublings of the quiet time: 8 s at most, so that a few requests fit into the patience.
  package static let requestBackoffShift: UInt64 = 5

  /// Requests per link and second: they cost air, and a storm of them would be an attack of its own.
  package static let requestsPerSecond = 8

  /// Packets per link that are remembered as complete, so that a late fragment does not start them again.
  package static let completedPerLink = 64
}
