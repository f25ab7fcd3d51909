/// Bounds of the routing state, each with its reason.
package enum RoutingLimits {
  /// Links a node relays over at once. Decisions are bit masks of 64 bits, of which the last stands for the node
  /// itself; no adapter holds half as many.
  package static let links = 63
  /// Packets remembered at most: 50 hours of a packet every 0.7 seconds, in 5.5 MB.
  package static let rememberedPackets = 1 << 18
  /// Packets one link may have put among the remembered, so that one neighbour cannot make us forget the others.
  package static let rememberedPerLink = 1 << 16
  /// Hours a packet is remembered: the longest lifetime, 48 h, and two for clocks and ages that are off.
  package static let dedupHorizonSeconds: UInt64 = 50 * 3_600
  /// How many more hops a second copy must have left to be relayed again.
  package static let upgradeHops: UInt8 = 2
  /// A packet is refused when its time is older than its lifetime by more than this, if our clock can be trusted.
  package static let pastToleranceMilliseconds: UInt64 = 2 * 3_600_000
  /// A packet is refused when its time is further ahead than this, if our clock can be trusted.
  package static let futureToleranceMilliseconds: UInt64 = 10 * 60_000
  /// Packets kept for neighbours that are still to come.
  package static let carriedPackets = 2_048
  /// Bytes of packets kept for neighbours that are still to come: what a Raspberry Pi can spare.
  package static let carriedBytes = 2 << 20
  /// Own packets whose first hand-over is still to be told; beyond it the session is not told.
  package static let ownPackets = 4_096
  /// At most so often what was seen is kept on disk. A node that is killed forgets what came in the last half minute; the
  /// disk is written to 2,880 times a day at most, some 15 MB of log, a seventieth of what it may be written to.
  package static let seenSaveSeconds: UInt64 = 30
  /// A node whose identity also runs elsewhere meets it over and over: the log gets a line an hour at most.
  package static let copyAlarmInterval: Duration = .seconds(3_600)
  /// Packets of one group: 170 KB, which is read, opened and taken in about a millisecond.
  package static let seenGroupEntries = 1 << 13
  /// Groups kept: one for each save within the horizon, and those that are full.
  package static let seenGroups = 6_000 + rememberedPackets / seenGroupEntries
  /// Groups that are read at once when a node starts: 2.7 MB at most.
  package static let seenGroupsPerSlice = 16

  // MARK: Comparing with neighbours

  /// From one comparison that found something to the next, and the longest time between two: what a link has lost is there
  /// within a quarter of a minute, and a mesh in which nothing happens says 43 bytes a minute and link.
  package static let firstComparison: Duration = .seconds(15)
  package static let lastComparison: Duration = .seconds(60)
  /// An answer comes within this time, three connection intervals of each side and some; asked for again so often.
  package static let comparisonAnswer: Duration = .seconds(2)
  package static let comparisonRepeats = 2
  /// Symbols asked for at first: enough for four differences; and at once: 2 KB, a tenth of a second of a good link.
  package static let firstSymbols = 8
  package static let mostSymbols = 150
  /// Symbols of one window: for two thousand differences, more than a node keeps.
  package static let symbolsOfAWindow = 3_000
  /// What a neighbour may ask for: two windows that differ in everything, then as much as half a link carries.
  package static let symbolsAtOnce = 6_000
  package static let symbolsPerSecond = 500
}
