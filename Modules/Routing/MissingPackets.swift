package import Streams

/// Packets that neighbours have announced and that have not come: whom to ask for them, and when.
///
/// What is announced may come by itself for `RoutingLimits.graftDelay`. Then the announcers are asked in turn, one at a
/// time for each packet and a bounded number at a time for each link; the time between two questions doubles when all were
/// asked. A packet is given up after `RoutingLimits.graftAttempts`. Bounded in all and by the link that named a packet
/// first, so that a neighbour that announces what it does not have takes no room from the others. Pure.
package struct MissingPackets: Sendable {
  package struct Missing: Sendable {
    var announcers: LinkSet
    /// Those that were asked in this round.
    var asked = LinkSet.none
    /// Who named it first.
    package var first: UInt8
    package var announcedAt: MonotonicTime
    var dueAt: MonotonicTime
    var attempts: UInt8 = 0
    var rounds: UInt8 = 0
    /// The link on which it is asked for now.
    package var askedNow: UInt8?
  }

  package enum Answer: Sendable, Equatable {
    case noted
    /// There is no room, in all or for this link.
    case full
  }

  private var packets: [UInt64: Missing] = [:]
  private var perLink = [UInt16](repeating: 0, count: 64)
  private var underWay = [UInt16](repeating: 0, count: 64)
  private var due: [(at: MonotonicTime, key: UInt64)] = []
  /// When `ask` has something to do; nil when nothing is missing.
  package private(set) var deadline: MonotonicTime?

  package init() {}

  package var count: Int { packets.count }
  package var isEmpty: Bool { packets.isEmpty }
  /// Questions that are open on a link.
  package func underWay(on slot: Int) -> Int { Int(underWay[slot & 63]) }

  /// A neighbour has a packet that we do not have.
  package mutating func announced(_ key: UInt64, by slot: Int, now: MonotonicTime) -> Answer {
    if packets[key] != nil {
      packets[key]?.announcers.insert(slot)
      return .noted
    }
    guard packets.count < RoutingLimits.missingPackets, perLink[slot & 63] < RoutingLimits.missingPerLink else {
      return .full
    }
    let isProbe = key & RoutingLimits.probeMask == 0
    let dueAt = now.advanced(by: isProbe ? RoutingLimits.probeGraftDelay : RoutingLimits.graftDelay)
    packets[key] = Missing(
      announcers: LinkSet(slot), first: UInt8(truncatingIfNeeded: slot & 63), announcedAt: now, dueAt: dueAt)
    perLink[slot & 63] += 1
    set(dueAt)
    return .noted
  }

  /// A packet has come, or is known not to be wanted.
  ///
  /// - Returns: what was known of it when it was missing.
  @inline(__always)
  package mutating func settle(_ key: UInt64) -> Missing? {
    guard !packets.isEmpty else { return nil }
    return remove(key)
  }

  /// The link is gone: nobody is asked there any more.
  package mutating func lost(_ slot: Int) {
    for key in packets.keys.sorted() {
      packets[key]?.announcers.remove(slot)
      if packets[key]?.askedNow == UInt8(truncatingIfNeeded: slot) {
        underWay[slot & 63] -= 1
        packets[key]?.askedNow = nil
        packets[key]?.dueAt = .start
        set(.start)
      }
      if packets[key]?.announcers.isEmpty == true { _ = remove(key) }
    }
  }

  /// Chooses whom to ask for what is due.
  ///
  /// - Parameter questions: gets slot and key of each.
  /// - Returns: how many packets were given up.
  package mutating func ask(now: MonotonicTime, questions: inout [(slot: Int, key: UInt64)]) -> Int {
    guard let deadline, deadline <= now else { return 0 }
    self.deadline = nil
    due.removeAll(keepingCapacity: true)
    for (key, packet) in packets {
      if packet.dueAt <= now { due.append((packet.announcedAt, key)) } else { set(packet.dueAt) }
    }
    due.sort { ($0.at, $0.key) < ($1.at, $1.key) }
    var givenUp = 0
    for index in due.indices where !ask(due[index].key, now: now, questions: &questions) { givenUp += 1 }
    return givenUp
  }

  /// - Returns: false when the packet is given up.
  private mutating func ask(_ key: UInt64, now: MonotonicTime, questions: inout [(slot: Int, key: UInt64)]) -> Bool {
    guard var packet = packets[key] else { return true }
    if let slot = packet.askedNow {
      underWay[Int(slot)] -= 1
      packet.askedNow = nil
      packets[key] = packet
    }
    guard packet.attempts < RoutingLimits.graftAttempts else {
      _ = remove(key)
      return false
    }
    var rest = LinkSet(bits: packet.announcers.bits & ~packet.asked.bits)
    if rest.isEmpty {
      rest = packet.announcers
      packet.asked = .none
      packet.rounds += 1
    }
    var chosen: Int?
    while chosen == nil, let slot = rest.popFirst() {
      if underWay[slot] < RoutingLimits.graftsPerLink { chosen = slot }
    }
    guard let chosen else {
      // All of them are busy with others: it waits its turn.
      packet.dueAt = now.advanced(by: RoutingLimits.graftDelay)
      packets[key] = packet
      set(packet.dueAt)
      return true
    }
    packet.asked.insert(chosen)
    packet.askedNow = UInt8(truncatingIfNeeded: chosen)
    packet.attempts += 1
    packet.dueAt = now.advanced(by: RoutingLimits.graftInterval * (1 << Int(min(packet.rounds, 4))))
    packets[key] = packet
    underWay[chosen] += 1
    questions.append((chosen, key))
    set(packet.dueAt)
    return true
  }

  private mutating func remove(_ key: UInt64) -> Missing? {
    guard let packet = packets.removeValue(forKey: key) else { return nil }
    perLink[Int(packet.first)] -= 1
    if let slot = packet.askedNow { underWay[Int(slot)] -= 1 }
    return packet
  }

  private mutating func set(_ time: MonotonicTime) { deadline = deadline.map { min($0, time) } ?? time }
}
