package import Streams
package import WireFormat

/// For every origin that spoke lately: over which links its packets come and go, so that each packet takes a tree.
///
/// The *parent* of an origin is the link that brought its latest packet first. Links that asked us to stop are *quiet*:
/// nothing of the origin is pushed there. Links that we asked are *stopped*. Who delivers first is the parent, whatever was
/// before: along the links of first delivery time only goes forward, so they never form a ring. When that link was
/// stopped, which happens when our prune and its packet cross, it is asked to go on.
///
/// One entry is 20 bytes and two places of 2 bytes in the index: 24 bytes an origin. When the table is full the neighbour
/// that brings more than its share loses the origin that has been silent for longest, so that one who invents origins
/// only pushes out its own; an origin without entry is flooded, which costs sends and no packet. Pure, and free of
/// allocation once the table has its size.
package struct OriginTrees: Sendable {
  /// What a new packet means for its origin.
  package struct Arrival: Sendable, Equatable {
    /// Links to which it is not pushed.
    package var quiet: LinkSet
    /// The link it came over had been asked to stop, and is the parent now: it is to be asked to go on.
    package var mustReopen = false
  }

  /// An origin that has lost its parent, and the link that is its parent from now on, if it is asked.
  package struct Orphan: Sendable, Equatable {
    package var origin: Tag
    package var slot: Int
  }

  private struct Entry: Sendable {
    var tagHigh: UInt32
    var tagLow: UInt32
    var quiet: UInt32
    var stopped: UInt32
    /// When it spoke last, in units of four seconds.
    var age: UInt16
    /// Parent 6 bits, former parent 6, whether the former one is to be spared once 1, times that the parent was late 3.
    var way: UInt16

    var tag: UInt64 { UInt64(tagHigh) << 32 | UInt64(tagLow) }
    var parent: UInt8 {
      get { UInt8(truncatingIfNeeded: way & 63) }
      set { way = way & ~63 | UInt16(newValue & 63) }
    }
    var former: UInt8 {
      get { UInt8(truncatingIfNeeded: way >> 6 & 63) }
      set { way = way & ~(63 << 6) | UInt16(newValue & 63) << 6 }
    }
    var isFormerSpared: Bool {
      get { way & 1 << 12 != 0 }
      set { way = newValue ? way | 1 << 12 : way & ~(1 << 12) }
    }
    var late: UInt8 {
      get { UInt8(truncatingIfNeeded: way >> 13) }
      set { way = way & 0x1FFF | UInt16(newValue & 7) << 13 }
    }
  }

  /// No parent; for our own origin ourselves.
  private static let none = SeenTable.ownSlot

  private var entries: [Entry] = []
  /// Number of an entry plus one, found by open addressing with linear probing; 0 is free.
  private var index = [UInt16](repeating: 0, count: 16)
  private var perParent = [UInt16](repeating: 0, count: 64)
  private let limit: Int
  private let multiplier: UInt64
  private let own: UInt64

  /// Origins forgotten for want of room.
  package private(set) var evicted: UInt64 = 0

  /// - Parameters:
  ///   - own: our own origin, for which we are the root.
  ///   - secret: so that nobody can choose origins that meet in one place of the table.
  package init(own: Tag, secret: UInt64, limit: Int = RoutingLimits.treeOrigins) {
    self.own = own.rawValue
    multiplier = secret | 1
    self.limit = min(max(8, limit), Int(UInt16.max) - 1)
  }

  package var count: Int { entries.count }
  /// Bytes the table occupies, all in.
  package var byteCount: Int { entries.capacity * MemoryLayout<Entry>.stride + index.capacity * 2 + 64 * 2 }

  /// The parent of an origin; nil when there is none.
  package func parent(of origin: Tag) -> Int? {
    find(origin.rawValue).flatMap { entries[$0].parent == Self.none ? nil : Int(entries[$0].parent) }
  }

  /// Links that have asked us to stop; those that we have asked.
  package func links(of origin: Tag) -> (quiet: LinkSet, stopped: LinkSet) {
    guard let number = find(origin.rawValue) else { return (.none, .none) }
    return (LinkSet(bits: UInt64(entries[number].quiet)), LinkSet(bits: UInt64(entries[number].stopped)))
  }

  // MARK: Packets

  /// A new packet has come over `slot`, or is our own.
  ///
  /// - Parameters:
  ///   - isLive: it was made just now. What is older than that says nothing about the way to its origin.
  ///   - isPunctual: it could have been announced before, and was not.
  ///   - linkCount: links that are up, among which the table is shared.
  package mutating func arrived(
    _ origin: Tag, from slot: Int, isLive: Bool, isPunctual: Bool = false, linkCount: Int, now: MonotonicTime
  ) -> Arrival {
    let via = UInt8(truncatingIfNeeded: slot & 63)
    guard let number = find(origin.rawValue) else {
      if isLive { insert(origin.rawValue, parent: via, linkCount: linkCount, now: now) }
      return Arrival(quiet: .none)
    }
    entries[number].age = Self.age(now)
    var arrival = Arrival(quiet: LinkSet(bits: UInt64(entries[number].quiet)))
    let parent = entries[number].parent
    if parent != via, via != Self.none, isLive || parent == Self.none {
      if parent != Self.none {
        entries[number].former = parent
        entries[number].isFormerSpared = true
      }
      arrival.mustReopen = entries[number].stopped & Self.bit(slot) != 0
      adopt(number, via)
    } else if isPunctual, entries[number].late > 0 {
      entries[number].late -= 1
    }
    return arrival
  }

  /// The parent has delivered what another link had announced long before.
  ///
  /// - Returns: the parent that was, when it was late too often and `slot` is the parent instead.
  package mutating func wasLate(_ origin: Tag, behind slot: Int) -> Int? {
    guard let number = find(origin.rawValue) else { return nil }
    let parent = entries[number].parent
    guard parent != Self.none, Int(parent) != slot else { return nil }
    entries[number].late += 1
    guard entries[number].late >= RoutingLimits.lateTimes else { return nil }
    adopt(number, UInt8(truncatingIfNeeded: slot & 63))
    entries[number].stopped |= Self.bit(Int(parent))
    return Int(parent)
  }

  /// How often in a row the parent of an origin was late.
  package func lateness(of origin: Tag) -> UInt8 { find(origin.rawValue).map { entries[$0].late } ?? 0 }

  /// A packet has come once more.
  ///
  /// - Returns: whether the link is to be asked to stop. Never the parent, and never a link when there is none.
  package mutating func repeated(_ origin: Tag, from slot: Int, isLive: Bool) -> Bool {
    guard slot < RoutingLimits.treeLinks, let number = find(origin.rawValue) else { return false }
    let via = UInt8(truncatingIfNeeded: slot)
    let parent = entries[number].parent
    guard parent != via else { return false }
    if parent == Self.none, origin.rawValue != own {
      if isLive { adopt(number, via) }
      return false
    }
    if entries[number].isFormerSpared, entries[number].former == via {
      // The two race once more: a packet that came by a detour because of one lost frame changes no tree for good.
      entries[number].isFormerSpared = false
      return false
    }
    entries[number].stopped |= Self.bit(slot)
    return true
  }

  /// A packet of an origin has come by a lane, which says nothing about its tree: it is a way to an origin that has none.
  package mutating func learn(_ origin: Tag, from slot: Int, linkCount: Int, now: MonotonicTime) {
    let via = UInt8(truncatingIfNeeded: slot & 63)
    guard let number = find(origin.rawValue) else {
      insert(origin.rawValue, parent: via, linkCount: linkCount, now: now)
      return
    }
    if entries[number].parent == Self.none, origin.rawValue != own { adopt(number, via) }
  }

  /// A link with a way to an origin that is not the one through us: its packets are pushed neither there nor from there, or
  /// at least not in one direction.
  ///
  /// - Parameters:
  ///   - among: the links that may be chosen.
  ///   - mixed: so that not all packets choose the same.
  package func alternative(to origin: Tag, among links: LinkSet, mixed: UInt64) -> Int? {
    guard let number = find(origin.rawValue) else { return nil }
    let up = UInt32(truncatingIfNeeded: links.bits)
    let (quiet, stopped) = (entries[number].quiet & up, entries[number].stopped & up)
    let candidates = quiet & stopped != 0 ? quiet & stopped : stopped != 0 ? stopped : quiet
    return candidates == 0 ? nil : Self.choose(candidates, UInt32(truncatingIfNeeded: mixed >> 32))
  }

  // MARK: What neighbours ask for

  package mutating func pruned(_ origin: Tag, by slot: Int) {
    if let number = find(origin.rawValue) { entries[number].quiet |= Self.bit(slot) }
  }

  package mutating func reopened(_ origin: Tag, by slot: Int) {
    if let number = find(origin.rawValue) { entries[number].quiet &= ~Self.bit(slot) }
  }

  package mutating func reopenedAll(by slot: Int) {
    let bit = Self.bit(slot)
    for number in entries.indices { entries[number].quiet &= ~bit }
  }

  // MARK: Links

  /// A link is new. Of the origins that speak now and have a way already nothing is wanted there.
  ///
  /// - Returns: those origins.
  package mutating func cameUp(_ slot: Int, now: MonotonicTime) -> [Tag] {
    guard slot < RoutingLimits.treeLinks else { return [] }
    let recent = UInt16(truncatingIfNeeded: RoutingLimits.speaksWithin.components.seconds / 4)
    var origins: [Tag] = []
    for number in entries.indices where Self.age(now) &- entries[number].age <= recent {
      guard entries[number].parent != Self.none || entries[number].tag == own else { continue }
      guard entries[number].parent != UInt8(truncatingIfNeeded: slot) else { continue }
      entries[number].stopped |= Self.bit(slot)
      origins.append(Tag(rawValue: entries[number].tag))
      if origins.count == RoutingLimits.waitingPrunes { break }
    }
    return origins
  }

  /// The link is gone, or is another's: nothing is known of it any more.
  ///
  /// - Parameters:
  ///   - remaining: the links that are up.
  ///   - orphans: gets the origins that spoke lately and have lost their parent, with the link to be asked instead: one
  ///     that has its own way to the origin, for it has asked us to stop.
  package mutating func lost(_ slot: Int, remaining: LinkSet, now: MonotonicTime, orphans: inout [Orphan]) {
    let keep = ~Self.bit(slot)
    let via = UInt8(truncatingIfNeeded: slot & 63)
    let up = UInt32(truncatingIfNeeded: remaining.bits) & keep
    let recent = UInt16(truncatingIfNeeded: RoutingLimits.reopenedWithin.components.seconds / 4)
    for number in entries.indices {
      entries[number].quiet &= keep
      entries[number].stopped &= keep
      if entries[number].former == via { entries[number].isFormerSpared = false }
      guard entries[number].parent == via, via != Self.none else { continue }
      let candidates = entries[number].quiet & up != 0 ? entries[number].quiet & up : entries[number].stopped & up
      guard candidates != 0, Self.age(now) &- entries[number].age <= recent else {
        adopt(number, Self.none)
        continue
      }
      let chosen = Self.choose(candidates, entries[number].tagLow)
      adopt(number, UInt8(truncatingIfNeeded: chosen))
      orphans.append(Orphan(origin: Tag(rawValue: entries[number].tag), slot: chosen))
    }
  }

  /// One of them, not the same for every origin.
  private static func choose(_ candidates: UInt32, _ mixed: UInt32) -> Int {
    var rest = candidates
    for _ in 0..<Int(mixed) % candidates.nonzeroBitCount { rest &= rest &- 1 }
    return rest.trailingZeroBitCount
  }

  // MARK: The table

  @inline(__always)
  private static func bit(_ slot: Int) -> UInt32 {
    slot < RoutingLimits.treeLinks ? 1 << UInt32(truncatingIfNeeded: slot) : 0
  }

  private static func age(_ now: MonotonicTime) -> UInt16 {
    UInt16(truncatingIfNeeded: now.nanoseconds / 4_000_000_000)
  }

  @inline(__always)
  private mutating func adopt(_ number: Int, _ slot: UInt8) {
    perParent[Int(entries[number].parent)] &-= 1
    perParent[Int(slot)] &+= 1
    entries[number].parent = slot
    entries[number].late = 0
    entries[number].stopped &= ~Self.bit(Int(slot))
  }

  @inline(__always)
  private func place(of tag: UInt64) -> Int {
    let mixed = (tag ^ tag >> 32) &* multiplier
    return Int(truncatingIfNeeded: mixed >> UInt64(truncatingIfNeeded: 64 - index.count.trailingZeroBitCount))
  }

  @inline(__always)
  private func find(_ tag: UInt64) -> Int? {
    var place = place(of: tag)
    while index[place] != 0 {
      let number = Int(index[place]) &- 1
      if entries[number].tag == tag { return number }
      place = (place &+ 1) & (index.count &- 1)
    }
    return nil
  }

  private mutating func insert(_ tag: UInt64, parent: UInt8, linkCount: Int, now: MonotonicTime) {
    let entry = Entry(
      tagHigh: UInt32(truncatingIfNeeded: tag >> 32), tagLow: UInt32(truncatingIfNeeded: tag), quiet: 0, stopped: 0,
      age: Self.age(now), way: UInt16(parent))
    perParent[Int(parent)] &+= 1
    if entries.count < limit {
      entries.append(entry)
      if entries.count * 2 > index.count { grow() } else { enter(tag, number: entries.count - 1) }
      return
    }
    let number = victim(for: parent, linkCount: linkCount, now: now)
    evicted &+= 1
    perParent[Int(entries[number].parent)] &-= 1
    leave(entries[number].tag)
    entries[number] = entry
    enter(tag, number: number)
  }

  /// The entry that makes room: of the newcomer's own link if that holds its share, else of the one that holds most.
  private func victim(for parent: UInt8, linkCount: Int, now: MonotonicTime) -> Int {
    var heaviest = Int(parent)
    if Int(perParent[heaviest]) <= limit / max(1, linkCount) {
      for slot in perParent.indices where perParent[slot] > perParent[heaviest] { heaviest = slot }
    }
    var (oldest, longest) = (0, -1)
    for number in entries.indices where Int(entries[number].parent) == heaviest && entries[number].tag != own {
      let silent = Int(Self.age(now) &- entries[number].age)
      if silent > longest { (oldest, longest) = (number, silent) }
    }
    return oldest
  }

  private mutating func enter(_ tag: UInt64, number: Int) {
    var place = place(of: tag)
    while index[place] != 0 { place = (place &+ 1) & (index.count &- 1) }
    index[place] = UInt16(truncatingIfNeeded: number &+ 1)
  }

  /// Takes a tag out of the index; what lay behind it because of it moves up.
  private mutating func leave(_ tag: UInt64) {
    let mask = index.count &- 1
    var free = place(of: tag)
    while index[free] != 0, entries[Int(index[free]) &- 1].tag != tag { free = (free &+ 1) & mask }
    var next = (free &+ 1) & mask
    while index[next] != 0 {
      let home = place(of: entries[Int(index[next]) &- 1].tag)
      if (next &- home) & mask >= (next &- free) & mask {
        index[free] = index[next]
        free = next
      }
      next = (next &+ 1) & mask
    }
    index[free] = 0
  }

  private mutating func grow() {
    index = [UInt16](repeating: 0, count: index.count * 2)
    entries.reserveCapacity(min(limit, index.count / 2))
    for number in entries.indices { enter(entries[number].tag, number: number) }
  }
}
