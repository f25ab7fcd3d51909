internal import WireFormat

/// What is to be written, in one transaction.
package struct SeenSave: Sendable, Equatable {
  package struct Group: Sendable, Equatable {
    package var number: Int64
    package var bytes: [UInt8]
  }

  package var groups: [Group]
  /// Groups with a lower number are removed.
  package var firstKept: Int64
  let entryCount: Int
  let kept: [SeenHistory.Kept]
}

/// Decides what of the packets seen is written to disk when, and what is removed there.
///
/// New packets are appended, in groups, at most once in `RoutingLimits.seenSaveSeconds`; nothing that was written is
/// written again. The oldest groups go when all they hold is past the horizon or when there are too many; the watermark
/// that is kept then says so. What could not be written is written with what comes after it. Pure and bounded.
package struct SeenHistory: Sendable {
  /// A group on disk.
  struct Kept: Sendable, Equatable {
    var number: Int64
    var count: Int
    var newestSecond: UInt64
  }

  private struct Note: Sendable {
    var id: PacketID
    var second: UInt32
    var hopsLeft: UInt8
  }

  private let run: UInt64
  private let packetLimit: Int
  private let groupLimit: Int
  private let startSecond: UInt64 = RoutingLimits.dedupHorizonSeconds
  private var notes: [Note] = []
  /// Of the first of `notes`, how many are being written.
  private var underWay = 0
  /// Oldest first.
  private var kept: [Kept] = []
  private var keptPackets = 0
  private var nextNumber: Int64 = 1
  /// Packets up to this second were removed before their horizon.
  private var prunedSecond: UInt64 = 0
  /// Packets that went before they could be written, because the disk took none for long.
  package private(set) var unwritten: UInt64 = 0

  package init(
    run: UInt64, packetLimit: Int = RoutingLimits.rememberedPackets, groupLimit: Int = RoutingLimits.seenGroups
  ) {
    self.run = run
    self.packetLimit = max(1, packetLimit)
    self.groupLimit = max(1, groupLimit)
  }

  /// Packets that wait to be written.
  package var waiting: Int { notes.count }
  /// Packets that are on disk.
  package var written: Int { keptPackets }

  mutating func note(_ id: PacketID, second: UInt64, hopsLeft: UInt8) {
    if notes.count >= packetLimit {
      // More than are ever remembered: the oldest would be removed from the disk at once.
      let gone = max(1, packetLimit / 4)
      prunedSecond = max(prunedSecond, self.second(of: notes[gone - 1]))
      notes.removeFirst(gone)
      underWay = max(0, underWay - gone)
      unwritten &+= UInt64(gone)
    }
    notes.append(
      Note(id: id, second: UInt32(truncatingIfNeeded: second - min(second, startSecond)), hopsLeft: hopsLeft))
  }

  private func second(of note: Note) -> UInt64 { UInt64(note.second) + startSecond }

  mutating func adopt(_ load: SeenLoad) {
    kept = load.kept.reversed() + kept
    keptPackets = kept.reduce(0) { $0 + $1.count }
    nextNumber = max(nextNumber, load.highestNumber == .max ? .max : load.highestNumber + 1)
    prunedSecond = max(prunedSecond, load.leftOutSecond)
  }

  /// Nil when there is nothing to write, or a save is under way.
  mutating func save(
    second: UInt64, wallMilliseconds: UInt64, isClockSynchronised: Bool, watermarkSecond: UInt64
  ) -> SeenSave? {
    guard !notes.isEmpty, underWay == 0, nextNumber < .max - Int64(RoutingLimits.seenGroups) else { return nil }
    underWay = notes.count
    var first = 0
    var remaining = keptPackets
    while first < kept.count {
      let oldest = kept[first]
      let isPast = second - min(second, oldest.newestSecond) >= RoutingLimits.dedupHorizonSeconds
      guard isPast || remaining + notes.count > packetLimit || kept.count - first >= groupLimit else { break }
      if !isPast { prunedSecond = max(prunedSecond, oldest.newestSecond) }
      remaining -= oldest.count
      first += 1
    }
    let watermark = max(watermarkSecond, prunedSecond)
    let watermarkAge =
      watermark == 0 ? nil : UInt32(clamping: min(UInt64(UInt32.max - 1), second - min(second, watermark)))
    var save = SeenSave(
      groups: [], firstKept: first < kept.count ? kept[first].number : nextNumber, entryCount: notes.count,
      kept: Array(kept[first...]))
    var start = 0
    var added: [Kept] = []
    while start < notes.count {
      let slice = notes[start..<min(notes.count, start + RoutingLimits.seenGroupEntries)]
      let group = SeenGroup(
        run: run, second: second, wallMilliseconds: wallMilliseconds, isClockSynchronised: isClockSynchronised,
        watermarkAgeSeconds: watermarkAge,
        entries: slice.map { note in
          let seenAt = self.second(of: note)
          return SeenGroup.Entry(
            id: note.id, ageSeconds: UInt32(clamping: second - min(second, seenAt)), hopsLeft: note.hopsLeft)
        })
      let number = nextNumber + Int64(added.count)
      save.groups.append(SeenSave.Group(number: number, bytes: group.encoded))
      added.append(Kept(number: number, count: slice.count, newestSecond: slice.last.map { self.second(of: $0) } ?? 0))
      start += slice.count
    }
    return SeenSave(
      groups: save.groups, firstKept: save.firstKept, entryCount: save.entryCount, kept: save.kept + added)
  }

  /// It is on disk.
  mutating func saved(_ save: SeenSave) {
    notes.removeFirst(min(underWay, notes.count))
    underWay = 0
    kept = save.kept
    keptPackets = kept.reduce(0) { $0 + $1.count }
    nextNumber = max(nextNumber, (save.groups.last?.number ?? 0) + 1)
  }

  /// It is not on disk: it comes with the next one.
  mutating func failed() { underWay = 0 }
}
