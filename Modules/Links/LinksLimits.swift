/// Bounds and times of links, each with its reason.
package enum LinksLimits {
  /// Peers linked or remembered with their slot; the width of a routing decision.
  package static let slots = 63
  /// Links that others have opened and that have not proved who is at the other end, at a time: what strangers can make
  /// us hold.
  package static let halfOpen = 8
  /// Handshakes that one address may begin with us within the interval: a peer that keeps losing us needs one every few
  /// seconds, and each costs us key agreements.
  package static let handshakesPerAddress = 10
  package static let handshakeInterval: Duration = .seconds(60)
  /// Further ones of an address at which a peer has proved itself each time: a link at the edge of the range breaks every
  /// second.
  package static let provedHandshakesPerAddress = 60
  /// Addresses whose handshakes are counted: as many as are remembered for dialling.
  package static let countedAddresses = 256
  /// Dials under way at a time on one transport: a Bluetooth controller does one, and a second is in its set-up.
  package static let dialsPerTransport = 2
  /// Seconds a new link has to prove who is at the other end.
  package static let handshakeTimeout: Duration = .seconds(10)
  /// Bytes of handshake messages that wait for their end on one link.
  package static let handshakeBytes = 1_024
  /// Time after which an unacknowledged piece of a handshake is sent again.
  package static let handshakeRetry: Duration = .milliseconds(300)

  /// Packets that wait for one link: at 15 kB/s and 300 bytes the last would leave after ten seconds.
  package static let queuedPackets = 512
  /// Bytes that wait for one link.
  package static let queuedBytes = 512 << 10
  /// Bytes by which what is more urgent may run ahead of another neighbour's packets that wait for the same link: a few
  /// packets, less than a tenth of a second on the slowest radio.
  package static let sourceLead = 1_024
  /// Packets sent and not acknowledged on one link.
  package static let windowPackets = 512
  /// Packets whose order of sending is kept, to tell which were overtaken: some of a full window go twice.
  package static let sentInOrder = 1_024
  /// Packets in fragments that are under way on one link: half of what a neighbour has buffers for, so that none that
  /// is nearly whole is given up for the next.
  package static let packetsInPieces = 16
  /// A second of the link's rate is sent ahead of its acknowledgement, between these bounds in bytes: more than a
  /// transport takes at once, so that it is the transport that says when there is room.
  package static let windowBytes = 8 << 10...512 << 10
  /// Keys of packets received from one peer that are told from repetitions: twice the peer's window.
  package static let recentKeys = 1_024

  /// An acknowledgement waits this long for company...
  package static let acknowledgementDelay: Duration = .milliseconds(20)
  /// ...or until so many are due.
  package static let acknowledgementBatch = 16
  /// Retransmission time before the first measurement and its bounds (RFC 6298, with a shorter floor: one hop only).
  package static let firstRetransmission: Duration = .milliseconds(500)
  package static let shortestRetransmission: Duration = .milliseconds(200)
  package static let longestRetransmission: Duration = .seconds(5)
  /// A link may be so many times slower than its transport says, since it last moved, before what is under way counts as
  /// overdue. One that is slower still and moves is not held to it.
  package static let slowestShare = 4
  /// Attempts before a packet is given up on a link that is up: about two minutes.
  package static let attempts = 30

  /// Frames under one key of a direction, and how long a key serves: what is sealed under a stolen key is little.
  package static let framesPerKey: UInt64 = 1 << 16
  package static let keyLifetime: Duration = .seconds(15 * 60)
  /// After this time two neighbours meet anew, with fresh ephemeral keys.
  package static let sessionLifetime: Duration = .seconds(24 * 3_600)

  /// A silent link is asked for a sign of life after this time...
  package static let keepAlive: Duration = .seconds(60)
  /// ...and closed when none comes for this long.
  package static let deadAfter: Duration = .seconds(90)

  /// So many new links to one peer within this time are told as an event: fewer are a walk through a door.
  package static let reconnects = 3
  package static let reconnectTime: Duration = .seconds(60)
  /// Of the new links to one peer within that time the last so many are kept in mind.
  package static let reconnectsKept = 16
  /// Peers whose links are watched for that: several times what can be linked at once.
  package static let watchedPeers = 256

  /// Addresses remembered for dialling; the one not heard for longest goes.
  package static let candidates = 256
  /// An address not heard for this long is dialled no more.
  package static let candidateLifetime: Duration = .seconds(120)
  /// Dials of addresses without a proved peer that may fail within the interval: a crowd of real nodes stays below, and
  /// whoever makes up addresses costs us one dial a second.
  package static let failedDials = 60
  package static let failedDialsInterval: Duration = .seconds(60)
  /// What strangers can cause at will is in the log once in so long, with how often it was.
  package static let logInterval: Duration = .seconds(60)
  /// One that was not in the air when it was to be dialled is dialled at the next sighting, but not sooner than this.
  package static let unheardPause: Duration = .milliseconds(100)
  /// Back-off of dials: doubles from the first to the last, and is spread by a quarter both ways.
  package static let firstRetry: Duration = .seconds(1)
  package static let lastRetry: Duration = .seconds(60)
  /// Addresses of an earlier run that are expected: more than any adapter holds links.
  package static let expectedAddresses = 64
  /// An address of an earlier run that fails so often leads to somebody else now, or to nobody.
  package static let expectedFailures = 3
  /// For so long after a start the others wait: a neighbour that advertises is heard within a second or two.
  package static let headStart: Duration = .seconds(2)
  /// After a link was lost its address is dialled again within this time, spread evenly.
  package static let reconnectSpread: Duration = .milliseconds(500)

  /// A neighbour may use twice what the radio is said to carry, with a burst of four seconds...
  package static let budgetShare = 2.0
  package static let budgetBurstSeconds = 4.0
  /// ...counted as if no frame were smaller than this, in bytes, because each costs a look.
  package static let smallestPaidFrame = 20
  /// Bytes a second that every transport is taken to carry at least.
  package static let smallestRate = 4_000
  /// Broken frames on one link before it is closed: a radio may err, a peer may not insist.
  package static let brokenFrames: UInt64 = 16
  /// Events towards the relay that wait.
  package static let waitingEvents = 512
  /// Frames of the trees from the relay that wait to be put into the queues of links: some to every link at once.
  package static let waitingControl = 512
  /// Frames of the link's own, and of the trees, that wait for one link; the oldest goes.
  package static let queuedControl = 64
  /// Packets from the relay that wait to be put into the queues of links.
  package static let waitingOutbound = 1_024
}
