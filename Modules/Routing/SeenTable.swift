/// Remembers which packets were seen, by a 64-bit keyed hash: open addressing with linear probing over two arrays.
///
/// A place takes 12 bytes (hash 8, note 4) and the table grows by two fifths when it is four fifths full, so a
/// remembered packet costs at most 12 / (0.8 / 1.4) = 21 bytes, 24 being the promise.
///
/// The note holds the second the packet came (18 bits, three days), how many hops the relayed copy had left (7 bits),
/// whether a better copy was relayed since (1 bit) and the slot of the link it came from (6 bits).
///
/// Nothing is forgotten before the horizon while there is room. When there is none the oldest quarter goes, and the
/// *watermark* rises to the second of the newest packet forgotten: a packet made before it is refused as too old,
/// because nobody can say any more whether it was seen. A link over its quota loses its own oldest half and gets a
/// watermark of its own.
package struct SeenTable: Sendable {
  package enum Answer: Sendable, Equatable {
    /// Not seen before; it is remembered now.
    case new
    case duplicate
    /// Seen, but this copy has enough more hops left to be relayed once more.
    case upgrade
  }

  /// The slot under which our own packets are remembered.
  package static let ownSlot: UInt8 = 63

  private static let emptyHash: UInt64 = 0

  private var hashes: [UInt64]
  private var notes: [UInt32]
  private var countPerLink: [Int32]
  private var linkWatermarks: [UInt64]
  private var lastSweepSecond: UInt64 = 0
  private let limit: Int
  private let quota: Int

  /// Packets remembered now.
  package private(set) var count = 0
  /// Packets forgotten before their horizon, for want of room.
  package private(set) var evicted: UInt64 = 0
  /// Packets made before this second (on the clock that is passed in) are too old to be judged.
  package private(set) var watermarkSecond: UInt64 = 0

  /// - Parameters:
  ///   - limit: packets remembered at most.
  ///   - quota: packets remembered at most from one link.
  package init(limit: Int = RoutingLimits.rememberedPackets, quota: Int = RoutingLimits.rememberedPerLink) {
    self.limit = max(16, limit)
    self.quota = max(8, quota)
    hashes = Array(repeating: Self.emptyHash, count: 64)
    notes = Array(repeating: 0, count: 64)
    countPerLink = Array(repeating: 0, count: 64)
    linkWatermarks = Array(repeating: 0, count: 64)
  }

  /// Bytes the table occupies, all in.
  package var byteCount: Int { hashes.capacity * 8 + notes.capacity * 4 + 64 * 12 + 64 }

  /// The earliest second at which a packet from this link may have been made.
  package func watermark(forLink slot: UInt8) -> UInt64 { max(watermarkSecond, linkWatermarks[Int(slot & 63)]) }

  /// Asks for a packet and remembers it.
  ///
  /// - Parameters:
  ///   - hash: its keyed hash.
  ///   - hopsLeft: how often it may still be forwarded from here.
  ///   - slot: the link it came from, `ownSlot` for our own packets.
  ///   - second: now, on a clock that never goes back.
  package mutating func insert(_ hash: UInt64, hopsLeft: UInt8, from slot: UInt8, second: UInt64) -> Answer {
    let hash = hash == Self.emptyHash ? 1 : hash
    var index = place(of: hash)
    while hashes[index] != Self.emptyHash {
      if hashes[index] == hash { return meetAgain(at: index, hopsLeft: hopsLeft) }
      index &+= 1
      if index == hashes.count { index = 0 }
    }
    if makeRoom(for: slot, second: second) {
      index = place(of: hash)
      while hashes[index] != Self.emptyHash { index = index &+ 1 == hashes.count ? 0 : index &+ 1 }
    }
    hashes[index] = hash
    notes[index] = Self.note(second: second, hopsLeft: hopsLeft, slot: slot)
    count &+= 1
    countPerLink[Int(slot & 63)] &+= 1
    return .new
  }

  /// Whether a packet is remembered.
  package func contains(_ hash: UInt64) -> Bool { find(hash) != nil }

  // MARK: What an earlier run remembered

  /// Whether a packet is remembered since an earlier second than this one, so by an earlier run.
  package func contains(_ hash: UInt64, since second: UInt64, now: UInt64) -> Bool {
    guard let index = find(hash) else { return false }
    return Self.age(of: notes[index], second: now) > now - min(now, second)
  }

  /// A packet of our own that an earlier run has sent is sent again: from here on it counts as sent now.
  package mutating func renewOwn(_ hash: UInt64, hopsLeft: UInt8, second: UInt64) {
    guard let index = find(hash) else { return }
    countPerLink[Self.slot(notes[index])] &-= 1
    countPerLink[Int(Self.ownSlot)] &+= 1
    notes[index] = Self.note(second: second, hopsLeft: hopsLeft, slot: Self.ownSlot)
  }

  /// Remembers a packet that an earlier run has seen. It takes no room from any link of this run, and nothing is
  /// forgotten for it.
  ///
  /// - Parameters:
  ///   - second: when it was seen, within the horizon before `now`.
  ///   - now: on the clock of this run.
  /// - Returns: false when there is no room.
  package mutating func restore(_ hash: UInt64, hopsLeft: UInt8, second: UInt64, now: UInt64) -> Bool {
    let hash = hash == Self.emptyHash ? 1 : hash
    guard find(hash) == nil else { return true }
    guard count < limit else { return false }
    // Everything is swept an hour after the newest note at the earliest: an age stays within its 18 bits.
    lastSweepSecond = max(lastSweepSecond, now)
    if (count &+ 1) &* 5 > hashes.count &* 4 { rebuild(places: hashes.count + hashes.count * 2 / 5) { _ in true } }
    var index = place(of: hash)
    while hashes[index] != Self.emptyHash { index = index &+ 1 == hashes.count ? 0 : index &+ 1 }
    hashes[index] = hash
    notes[index] = Self.note(second: second, hopsLeft: hopsLeft, slot: Self.ownSlot)
    count &+= 1
    countPerLink[Int(Self.ownSlot)] &+= 1
    return true
  }

  /// Packets made before this second were forgotten by an earlier run.
  package mutating func raiseWatermark(to second: UInt64) { watermarkSecond = max(watermarkSecond, second) }

  @inline(__always)
  private func find(_ hash: UInt64) -> Int? {
    let hash = hash == Self.emptyHash ? 1 : hash
    var index = place(of: hash)
    while hashes[index] != Self.emptyHash {
      if hashes[index] == hash { return index }
      index = index &+ 1 == hashes.count ? 0 : index &+ 1
    }
    return nil
  }

  @inline(__always)
  private mutating func meetAgain(at index: Int, hopsLeft: UInt8) -> Answer {
    let note = notes[index]
    let (offered, relayed) = (min(hopsLeft, 0x7f), Self.hopsLeft(note))
    guard offered >= relayed &+ RoutingLimits.upgradeHops else { return .duplicate }
    // A neighbour may send a copy on its last hop, and one that is hardly better, before the real one comes: what
    // reaches twice as far is still taken, and no packet is relayed more than eight times for it.
    guard note & 0x40 == 0 || offered >= relayed &* 2 else { return .duplicate }
    notes[index] = (note & 0xffff_c03f) | 0x40 | UInt32(offered) << 7
    return .upgrade
  }

  private static func note(second: UInt64, hopsLeft: UInt8, slot: UInt8) -> UInt32 {
    UInt32(truncatingIfNeeded: second & 0x3ffff) << 14 | UInt32(min(hopsLeft, 0x7f)) << 7 | UInt32(slot & 63)
  }

  private static func hopsLeft(_ note: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: note >> 7) & 0x7f }

  private static func slot(_ note: UInt32) -> Int { Int(note & 63) }

  @inline(__always)
  private func place(of hash: UInt64) -> Int {
    Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(truncatingIfNeeded: hashes.count)).high)
  }

  /// Seconds since a note was made; notes are swept before the 18 bits come round.
  private static func age(of note: UInt32, second: UInt64) -> UInt64 { (second &- UInt64(note >> 14)) & 0x3ffff }

  /// - Returns: whether places have moved.
  private mutating func makeRoom(for slot: UInt8, second: UInt64) -> Bool {
    var hasMoved = false
    if second >= lastSweepSecond &+ 3_600 {
      // Every note was made before this second and not much more than the horizon before it, so its age then is known,
      // however long the silence since.
      let known = lastSweepSecond &+ 3_600
      let silence = second &- known
      lastSweepSecond = second
      rebuild(places: hashes.count) { note in
        Self.age(of: note, second: known) &+ silence < RoutingLimits.dedupHorizonSeconds
      }
      hasMoved = true
    }
    let index = Int(slot & 63)
    if slot != Self.ownSlot, Int(countPerLink[index]) >= quota {
      let oldest = forgetOldest(Int(countPerLink[index]) / 2, second: second) { Self.slot($0) == index }
      linkWatermarks[index] = max(linkWatermarks[index], oldest)
      hasMoved = true
    }
    if count >= limit {
      watermarkSecond = max(watermarkSecond, forgetOldest(max(1, count / 4), second: second) { _ in true })
      hasMoved = true
    }
    if (count &+ 1) &* 5 > hashes.count &* 4 {
      rebuild(places: hashes.count + hashes.count * 2 / 5) { _ in true }
      hasMoved = true
    }
    return hasMoved
  }

  /// Forgets the `number` oldest packets that match.
  ///
  /// - Returns: the second of the newest one forgotten.
  private mutating func forgetOldest(_ number: Int, second: UInt64, where matches: (UInt32) -> Bool) -> UInt64 {
    var ages: [UInt64] = []
    for index in hashes.indices where hashes[index] != Self.emptyHash && matches(notes[index]) {
      ages.append(Self.age(of: notes[index], second: second))
    }
    guard !ages.isEmpty else { return 0 }
    ages.sort(by: >)
    let youngestForgotten = ages[min(number, ages.count) - 1]
    var ofThatAge = ages.prefix(number).count { $0 == youngestForgotten }
    let before = count
    rebuild(places: hashes.count) { note in
      guard matches(note) else { return true }
      let age = Self.age(of: note, second: second)
      if age > youngestForgotten { return false }
      guard age == youngestForgotten, ofThatAge > 0 else { return true }
      ofThatAge -= 1
      return false
    }
    evicted &+= UInt64(before - count)
    return second &- min(second, youngestForgotten)
  }

  private mutating func rebuild(places: Int, keep: (UInt32) -> Bool) {
    let oldHashes = hashes
    let oldNotes = notes
    hashes = Array(repeating: Self.emptyHash, count: places)
    notes = Array(repeating: 0, count: places)
    count = 0
    for link in countPerLink.indices { countPerLink[link] = 0 }
    for index in oldHashes.indices where oldHashes[index] != Self.emptyHash && keep(oldNotes[index]) {
      var free = place(of: oldHashes[index])
      while hashes[free] != Self.emptyHash { free = free &+ 1 == places ? 0 : free &+ 1 }
      hashes[free] = oldHashes[index]
      notes[free] = oldNotes[index]
      count &+= 1
      countPerLink[Self.slot(oldNotes[index])] &+= 1
    }
  }
}
