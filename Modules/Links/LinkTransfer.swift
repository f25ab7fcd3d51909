internal import Bytes
internal import Routing
package import Streams
internal import WireFormat

/// Carries packets to and from one neighbour so that each arrives once as long as the link is up: acknowledged by
/// key, sent again when the answer is overdue, cut into fragments where a frame is too small.
///
/// It belongs to the neighbour and not to the radio link: when two links to one neighbour become one, nothing is lost
/// and nothing comes twice. Pure: the `LinkManager` hands in frames and time and sends what `nextContent` gives.
///
/// Order is kept within a class as long as nothing is lost; a packet that is sent again may be overtaken.
///
/// What was handed to the transport may wait there, so a packet is overdue only when nothing moves any more: while
/// others are acknowledged, or the transport takes frames again, its turn has not come, and what is under way has the time
/// that a slow link takes for it, but not longer than the slowest of all takes. A packet that was overtaken by one sent later is lost and waits for a round trip only
/// (RFC 8985).
package struct LinkTransfer: Sendable {
  private struct InFlight: Sendable {
    var packet: OutgoingPacket
    /// When its last piece so far was handed over.
    var sentAt: MonotonicTime
    var deadline: MonotonicTime
    var attempts: Int
    /// Something that was sent after it was acknowledged.
    var isOvertaken = false
    /// Nil for a packet that goes whole. All fragments carry the age that the packet had when the first one left.
    var fragmenter: Fragmenter?
    /// The content limit of the frames it was cut for.
    var limit: Int
    /// Fragments still to be sent, as ranges in order.
    var pending: [Range<Int>]
  }

  private var queue = PacketQueue()
  private var inFlight: [UInt64: InFlight] = [:]
  private var inFlightBytes = 0
  /// How many of those under way go in fragments.
  private var inPieces = 0
  private var deadlines = DeadlineHeap()
  /// Keys with something to send now: sent again, or fragments left.
  private var resending: [UInt64] = []
  private var contents: [[UInt8]] = []
  private var acknowledgements: [UInt64] = []
  private var acknowledgementDeadline: MonotonicTime?
  private var recent = RecentKeys()
  private var roundTrip = RoundTripEstimator()
  private let windowBytes: Int
  private let slowestRate: Int
  /// When the link was last seen to move: an acknowledgement came, or the transport had room again.
  private var movedAt = MonotonicTime.start
  /// What was sent, in order, until something sent later is acknowledged.
  private var sent = SendOrder()

  /// Packets handed over and acknowledged by the neighbour.
  package private(set) var acknowledged: UInt64 = 0
  package private(set) var retransmitted: UInt64 = 0
  private var drops: [QueueDrop: UInt64] = [:]

  /// - Parameter bytesPerSecond: the rate of the transport, for the bytes sent ahead of their acknowledgement.
  package init(bytesPerSecond: Int) {
    windowBytes = min(max(bytesPerSecond, LinksLimits.windowBytes.lowerBound), LinksLimits.windowBytes.upperBound)
    slowestRate = max(bytesPerSecond / LinksLimits.slowestShare, LinksLimits.smallestRate)
  }

  /// Packets that wait or are not acknowledged yet.
  package var waiting: Int { queue.count + inFlight.count }
  /// The smoothed time to an acknowledgement, if one was measured.
  package var roundTripTime: Duration? { roundTrip.smoothed }

  /// What was dropped since this was asked last, by reason.
  package mutating func takeDrops() -> [QueueDrop: UInt64] {
    defer { if !drops.isEmpty { drops = [:] } }
    return drops
  }

  // MARK: Sending

  /// Takes a packet to hand over. Doing it twice while the first is under way does nothing.
  package mutating func enqueue(_ packet: OutgoingPacket) {
    guard inFlight[packet.key] == nil else { return }
    for _ in queue.insert(packet) { count(.queueFull) }
  }

  /// Puts a link frame of the link's own (a request) or of the trees ahead of every packet. At most
  /// `LinksLimits.queuedControl` wait; the oldest goes.
  package mutating func enqueue(content: [UInt8]) {
    if contents.count >= LinksLimits.queuedControl {
      contents.removeFirst()
      count(.controlFull)
    }
    contents.append(content)
  }

  /// The next link frame to seal and send, or nil when nothing may be sent now.
  ///
  /// - Parameter limit: bytes of content that fit a frame now.
  package mutating func nextContent(limit: Int, now: MonotonicTime) -> [UInt8]? {
    if !contents.isEmpty { return contents.removeFirst() }
    if acknowledgements.count >= LinksLimits.acknowledgementBatch || acknowledgementDeadline.map({ $0 <= now }) == true
    {
      return takeAcknowledgements(limit: limit)
    }
    while let key = resending.first {
      if let content = nextPiece(of: key, limit: limit, now: now) { return content }
      resending.removeFirst()
    }
    while inFlight.count < LinksLimits.windowPackets, inFlightBytes < windowBytes, let next = queue.first {
      // What is in pieces fills buffers at the neighbour, who has few: the rest waits until some are whole.
      let isInPieces = next.bytes.count + LinkFrame.packetOffset > limit
      if isInPieces, inPieces >= LinksLimits.packetsInPieces { break }
      guard let packet = queue.popFirst() else { break }
      if let content = begin(packet, limit: limit, now: now) { return content }
    }
    return nil
  }

  private mutating func begin(_ packet: OutgoingPacket, limit: Int, now: MonotonicTime) -> [UInt8]? {
    // It may have been put into the queue twice before the first copy left.
    guard inFlight[packet.key] == nil else { return nil }
    guard packet.expiry > now else {
      count(.expired)
      return nil
    }
    var fragmenter: Fragmenter?
    if packet.bytes.count + LinkFrame.packetOffset > limit {
      var aged = packet.bytes
      Packet.age(&aged, at: 0, by: held(packet, now: now))
      fragmenter = try? Fragmenter(packet: aged, key: packet.key, payloadByteCount: limit)
      guard fragmenter != nil else {
        count(.tooLong)
        return nil
      }
    }
    let pieces = fragmenter?.frameCount ?? 1
    var flight = InFlight(
      packet: packet, sentAt: now, deadline: .never, attempts: 1, fragmenter: fragmenter, limit: limit,
      pending: pieces > 1 ? [1..<pieces] : [])
    inFlightBytes += packet.bytes.count
    if fragmenter != nil { inPieces += 1 }
    if pieces > 1 { resending.append(packet.key) } else { left(&flight, now: now) }
    inFlight[packet.key] = flight
    return fragmenter.map { Self.piece(0, of: $0) } ?? whole(packet, now: now)
  }

  /// The next fragment or the whole packet that is to be sent again.
  private mutating func nextPiece(of key: UInt64, limit: Int, now: MonotonicTime) -> [UInt8]? {
    guard var flight = inFlight[key], let range = flight.pending.first else { return nil }
    guard flight.packet.expiry > now else {
      remove(key)
      count(.expired)
      return nil
    }
    if limit < flight.limit {
      // The frames have become smaller: what is under way is cut anew.
      remove(key)
      return begin(flight.packet, limit: limit, now: now)
    }
    flight.pending[0] = range.lowerBound + 1..<range.upperBound
    if flight.pending[0].isEmpty { flight.pending.removeFirst() }
    if flight.pending.isEmpty { left(&flight, now: now) }
    inFlight[key] = flight
    return flight.fragmenter.map { Self.piece(range.lowerBound, of: $0) } ?? whole(flight.packet, now: now)
  }

  /// The last piece of a packet that was to be sent now goes: its time begins.
  private mutating func left(_ flight: inout InFlight, now: MonotonicTime) {
    flight.sentAt = now
    flight.isOvertaken = false
    flight.deadline = due(flight)
    deadlines.insert(flight.deadline, key: flight.packet.key)
    sent.append(SendOrder.Entry(key: flight.packet.key, sentAt: now))
  }

  /// When a packet whose last piece has been handed over is overdue.
  private func due(_ flight: InFlight) -> MonotonicTime {
    let timeout = roundTrip.timeout(attempt: flight.attempts)
    guard !flight.isOvertaken else { return flight.sentAt.advanced(by: timeout) }
    let ahead = Duration.milliseconds(inFlightBytes * 1_000 / slowestRate)
    // However much else moves: after the time in which the slowest link of all has carried everything, it was lost.
    let longest = flight.sentAt.advanced(by: .milliseconds(inFlightBytes * 1_000 / LinksLimits.smallestRate))
    return min(max(flight.sentAt, movedAt), longest).advanced(by: timeout + ahead)
  }

  /// The transport has room again for what it refused: what it holds has moved.
  package mutating func moved(now: MonotonicTime) { movedAt = now }

  /// Whatever was sent before `time` and is not acknowledged was overtaken: its deadline does not move any more.
  private mutating func overtake(before time: MonotonicTime) {
    while let first = sent.first, first.sentAt < time {
      sent.removeFirst()
      guard var flight = inFlight[first.key], flight.sentAt == first.sentAt, flight.pending.isEmpty else { continue }
      flight.isOvertaken = true
      flight.deadline = due(flight)
      inFlight[first.key] = flight
      deadlines.insert(flight.deadline, key: first.key)
    }
  }

  private static func piece(_ index: Int, of fragmenter: Fragmenter) -> [UInt8] {
    var content: [UInt8] = []
    fragmenter.appendFrame(index, to: &content)
    return content
  }

  private func whole(_ packet: OutgoingPacket, now: MonotonicTime) -> [UInt8] {
    var content: [UInt8] = []
    content.reserveCapacity(LinkFrame.packetOffset + packet.bytes.count)
    LinkFrame.appendPacket(packet.bytes.rawSpan, to: &content)
    Packet.age(&content, at: LinkFrame.packetOffset, by: held(packet, now: now))
    return content
  }

  private func held(_ packet: OutgoingPacket, now: MonotonicTime) -> UInt32 {
    UInt32(clamping: now.milliseconds(since: packet.since))
  }

  private mutating func takeAcknowledgements(limit: Int) -> [UInt8]? {
    let count = min(acknowledgements.count, max(1, (limit - 1) / 8), WireLimits.acknowledgedKeyCount)
    let keys = Array(acknowledgements.prefix(count))
    acknowledgements.removeFirst(count)
    if acknowledgements.isEmpty { acknowledgementDeadline = nil }
    return keys.isEmpty ? nil : LinkFrame.acknowledgment(keys).encoded
  }

  // MARK: Receiving

  /// Whether this packet was received from the neighbour already; it is then acknowledged once more.
  ///
  /// - Parameter hops: links this copy has crossed. One that came by a much shorter way than the first is no repetition:
  ///   the relay passes it on once more.
  package mutating func isRepetition(_ key: UInt64, hops: UInt8, now: MonotonicTime) -> Bool {
    guard let known = recent.hops(of: key), Int(hops) + Int(RoutingLimits.upgradeHops) > Int(known) else {
      return false
    }
    owe(key, now: now)
    return true
  }

  /// The same for a piece of a packet, which does not tell its hops.
  package mutating func isRepetition(_ key: UInt64, now: MonotonicTime) -> Bool {
    guard recent.contains(key) else { return false }
    owe(key, now: now)
    return true
  }

  /// The packet was taken over here: the neighbour need not send it again.
  package mutating func accept(_ key: UInt64, hops: UInt8, now: MonotonicTime) {
    recent.insert(key, hops: hops)
    owe(key, now: now)
  }

  private mutating func owe(_ key: UInt64, now: MonotonicTime) {
    // The neighbour asks again for what is not acknowledged; it does not make us hold more than it can have sent.
    guard acknowledgements.count < LinksLimits.recentKeys else { return }
    acknowledgements.append(key)
    if acknowledgementDeadline == nil {
      acknowledgementDeadline = now.advanced(by: LinksLimits.acknowledgementDelay)
    }
  }

  /// The neighbour has these packets.
  ///
  /// - Returns: those that were under way; what was never sent to it is no news.
  package mutating func acknowledge(_ keys: [UInt64], now: MonotonicTime) -> [UInt64] {
    var newest = MonotonicTime.start
    let news = keys.filter { key in
      guard let flight = inFlight[key] else { return false }
      // Of one that was sent twice nobody knows which copy was acknowledged (Karn's algorithm).
      if flight.attempts == 1, flight.pending.isEmpty {
        roundTrip.measure(now.since(flight.sentAt))
        newest = max(newest, flight.sentAt)
      }
      remove(key)
      acknowledged += 1
      return true
    }
    if !news.isEmpty { movedAt = now }
    overtake(before: newest)
    return news
  }

  /// The neighbour misses these fragments of a packet. One who asks sooner than a round trip after the last of them
  /// left cannot know about it yet; it asks again.
  package mutating func request(_ key: UInt64, ranges: [Range<Int>], now: MonotonicTime) {
    guard var flight = inFlight[key], let pieces = flight.fragmenter?.frameCount else { return }
    let wanted = ranges.map { $0.clamped(to: 0..<pieces) }.filter { !$0.isEmpty }
    guard flight.pending.isEmpty, !wanted.isEmpty, now.since(flight.sentAt) >= roundTrip.smoothed ?? .zero else {
      return
    }
    flight.pending = wanted
    flight.attempts = max(flight.attempts, 2)
    inFlight[key] = flight
    retransmitted += 1
    resending.append(key)
  }

  // MARK: Time

  /// When `tick` or `nextContent` has something to do although nothing comes in.
  package var deadline: MonotonicTime? {
    switch (acknowledgementDeadline, deadlines.first?.deadline) {
    case (let left?, let right?): min(left, right)
    case (let left, let right): left ?? right
    }
  }

  /// The same for who holds many transfers: it is asked in place, where the property is asked of a copy.
  package mutating func nextDeadline() -> MonotonicTime? { deadline }

  /// Looks at what is overdue.
  package mutating func tick(now: MonotonicTime) {
    while let entry = deadlines.first, entry.deadline <= now {
      _ = deadlines.popFirst()
      guard var flight = inFlight[entry.key], flight.deadline == entry.deadline, flight.pending.isEmpty else {
        continue
      }
      let due = due(flight)
      guard due <= now else {
        flight.deadline = due
        inFlight[entry.key] = flight
        deadlines.insert(due, key: entry.key)
        continue
      }
      guard flight.attempts < LinksLimits.attempts else {
        remove(entry.key)
        count(.unacknowledged)
        continue
      }
      if flight.attempts == 1 { roundTrip.timedOut(sentAt: flight.sentAt, now: now) }
      flight.attempts += 1
      flight.pending = [0..<(flight.fragmenter?.frameCount ?? 1)]
      inFlight[entry.key] = flight
      retransmitted += 1
      resending.append(entry.key)
    }
  }

  /// The neighbour has no link any more: everything under way is let go, because what it has is learned anew when it
  /// comes back.
  package mutating func reset() {
    let lost = UInt64(queue.count + inFlight.count)
    if lost > 0 { drops[.linkDown, default: 0] += lost }
    queue = PacketQueue()
    inFlight.removeAll(keepingCapacity: false)
    inFlightBytes = 0
    inPieces = 0
    deadlines.removeAll()
    sent = SendOrder()
    resending = []
    contents = []
    acknowledgements = []
    acknowledgementDeadline = nil
  }

  /// What waits of these origins, or is under way, is not sent any more.
  mutating func drop(of origins: Set<Tag>) {
    func isMeant(_ packet: OutgoingPacket) -> Bool { packet.origin.map(origins.contains) == true }
    for _ in 0..<queue.removeAll(where: isMeant) { count(.originBlocked) }
    for (key, flight) in inFlight where isMeant(flight.packet) {
      remove(key)
      count(.originBlocked)
    }
  }

  private mutating func remove(_ key: UInt64) {
    guard let flight = inFlight.removeValue(forKey: key) else { return }
    inFlightBytes -= flight.packet.bytes.count
    if flight.fragmenter != nil { inPieces -= 1 }
  }

  private mutating func count(_ drop: QueueDrop) { drops[drop, default: 0] += 1 }
}
