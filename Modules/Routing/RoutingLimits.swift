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
  /// With trees a copy that has so many hops left is as good as any: the longest way through 5,000 nodes is 63 links. The
  /// quickest way is seldom the shortest, and a copy that is relayed again for its hops is pruned by nobody.
  package static let enoughHops: UInt8 = 64
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

  // MARK: Trees

  /// Origins whose tree is remembered, at most 24 bytes each. Beyond it the longest silent one of the neighbour that brings
  /// most is forgotten, and its next packet is flooded.
  package static let treeOrigins = 1_024
  /// Links that can be left out of a tree: an entry has 32 bits for them. Those beyond are always pushed to.
  package static let treeLinks = 32
  /// A prune waits so long for others to the same neighbour: a burst of first packets makes one frame.
  package static let pruneDelay: Duration = .milliseconds(50)
  /// Origins that wait to be pruned on one link: a frame of the largest size. Those beyond come with the next duplicate.
  package static let waitingPrunes = 60
  /// Origins that are asked for anew on one link when a parent is lost: four frames. Those beyond are repaired by graft.
  package static let reopenedOrigins = 240
  /// An origin that spoke within this time is pruned on a new link when it has a way already, instead of by a second copy each
  /// way: with a twentieth of the links new for each packet those copies would be a third of all.
  package static let speaksWithin: Duration = .seconds(60)
  /// An origin that was silent for longer is not asked for when its parent is lost: it is repaired when it speaks.
  package static let reopenedWithin: Duration = .seconds(15 * 60)
  /// Announcements wait for company at least half as long, and at most this long: a frame a second on a quiet link.
  package static let announceInterval: Duration = .milliseconds(1_000)
  /// Packets that wait to be announced: five seconds of as much as a radio carries. The oldest goes.
  package static let waitingAnnouncements = 1_024
  /// A neighbour that has not shown in this time that it knows announcements gets what it misses whole.
  package static let acquaintance: Duration = .seconds(1)
  /// What is announced may come by itself for so long before it is asked for: one or two connection intervals.
  package static let graftDelay: Duration = .milliseconds(50)
  /// The next announcer is asked after this time, which doubles when all were asked.
  package static let graftInterval: Duration = .milliseconds(250)
  /// A packet is given up after so many questions: twelve seconds with one announcer, as the last questions are four seconds apart.
  package static let graftAttempts: UInt8 = 6
  /// Packets that are asked for on one link at a time: what was announced long ago comes little by little.
  package static let graftsPerLink = 32
  /// Packets that were announced and are missing, and how many of them one link may have named first.
  package static let missingPackets = 2_048
  package static let missingPerLink = 512
  /// Keys that are kept of packets that were met and are not carried, so that they are not asked for again.
  package static let metKeys = 256
  /// The same of packets that were carried and had to go: twice as many as are carried, 100 KB.
  package static let goneKeys = 4_096
  /// Of so many packets, told by their keys, one is announced at once, which shows who would have been quicker than the parent.
  package static let probeMask: UInt64 = 3
  /// Such a packet is behind its own announcement by as much as the tree is slower than the quickest way, and still comes.
  package static let probeGraftDelay: Duration = .milliseconds(250)
  /// By so much such an announcement must be ahead of the parent to count against it, three times more often than not.
  package static let lateBy: Duration = .milliseconds(4)
  package static let lateTimes: UInt8 = 3
  /// A packet older than this is history: who brings it is not for that reason the way to its origin.
  package static let liveMilliseconds: UInt64 = 10_000

  // MARK: Lanes

  /// Own packets that wait for their answer; beyond it the oldest goes by its lane only.
  package static let awaitedPackets = 1_024
  /// Packets on a lane that the next node has not acknowledged yet: ten times as many as a link has under way. Beyond it a lost
  /// link is made up for by the origin.
  package static let packetsOnLanes = 512
  /// Nodes to which a lane is remembered besides the trees, 16 bytes each: those that people talk with lately. Two that share a
  /// place push each other out, and are reached along the trees.
  package static let lanes = 256
  /// Origins of which the nearest neighbour is remembered, 4 bytes each: four times as many as have trees, since two that share
  /// a place push each other out.
  package static let nearestNeighbours = 4_096
  /// The way of an answer is taken for so long: in a crowd that moves the trees know better soon.
  package static let laneKept: Duration = .seconds(300)
  /// An answer may take so long for each link of the way, three connection intervals of 30 ms, and so much longer in all.
  package static let answerPerLink: Duration = .milliseconds(90)
  package static let answerSlack: Duration = .seconds(1)
  /// How many links the way is taken to have when none is known: as far as it is across a crowd of a thousand.
  package static let linksUnknown: UInt8 = 16

  // MARK: Comparing with neighbours

  /// From one comparison that found something to the next, and the longest time between two: what a link has lost is there
  /// within a quarter of a minute, and a mesh in which nothing happens says 43 bytes a minute and link.
  package static let firstComparison: Duration = .seconds(15)
  package static let lastComparison: Duration = .seconds(60)
  /// After one that found something: what was asked for may be lost as well.
  package static let comparisonAfterFinding: Duration = .seconds(5)
  /// Whose turn it is not begins all the same after this time, when the other has not.
  package static let leaderPatience: Duration = .seconds(5)
  /// An answer comes within this time, three connection intervals of each side and some; asked for again so often.
  package static let comparisonAnswer: Duration = .seconds(2)
  package static let comparisonRepeats = 2
  /// Symbols asked for at first: enough for four differences; and at once: 2 KB, a tenth of a second of a good link.
  package static let firstSymbols = 8
  package static let mostSymbols = 150
  /// Symbols of one window: for two thousand differences, more than a node keeps.
  package static let symbolsOfAWindow = 3_000
  /// Neighbours that are told symbols at a time, 64 KB each at most, and how long what they are made of is kept for the next
  /// request: longer than one is repeated.
  package static let answersAtOnce = 8
  package static let answerKept: Duration = .seconds(7)
  /// What a neighbour may ask for: two windows that differ in everything, then as much as half a link carries.
  package static let symbolsAtOnce = 6_000
  package static let symbolsPerSecond = 500
}
