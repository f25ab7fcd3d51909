/// What the files of a sealed node remember of each other, as numbers that rise together: at every start, at a clean
/// stop, whenever a way to the keys changes, and half a minute after a write.
///
/// A record is made in this order, each step durable before the next: the store intends a number, the archive takes it,
/// the slot file takes it, the store says that it is settled. So wherever a process dies, archive and slot file lie between
/// what is settled and what is intended, and the slot file is never ahead of the archive; whatever lies elsewhere was put
/// back from a copy. All files put back together look as they did: that nothing on the same disk can tell. Pure.
struct StateNumbers: Equatable, Sendable {
  enum File: String, Equatable, Sendable {
    case slots = "keys.v1"
    case store = "store.db"
    case archive = "archive.db"
  }

  /// Of the slot file.
  var slots: UInt64
  /// Of the store.
  var intended: UInt64
  var settled: UInt64
  /// Nothing where the archive has none, as while it is plain.
  var archive: UInt64?
  /// Whether the archive has had one.
  var isArchiveCounted: Bool

  /// - Parameters:
  ///   - intended: nothing in a store that knows no number yet: it was just moved here, or begins.
  ///   - settled: nothing in one of the first builds, which counted openings in the same order.
  init(slots: UInt64, intended: UInt64?, settled: UInt64?, archive: UInt64?, isArchiveCounted: Bool) {
    self.slots = slots
    self.intended = intended ?? (slots <= 1 ? slots : 0)
    self.settled = min(settled ?? (self.intended > 0 ? self.intended - 1 : 0), self.intended)
    self.archive = archive
    self.isArchiveCounted = isArchiveCounted
  }

  /// The file that is from an earlier time than the others.
  var older: File? {
    if slots > intended { return .store }
    if let archive, archive > intended { return .store }
    if slots < settled { return .slots }
    guard let archive else { return isArchiveCounted ? .archive : nil }
    return archive < max(settled, slots) ? .archive : nil
  }

  /// What slot file and archive have reached for certain; the store says with what it intends that this is settled, so that
  /// records that are interrupted one after the other lock nobody out.
  var certain: UInt64 { min(slots, archive ?? slots) }

  /// Of the next record: above every number there is.
  var next: UInt64 { Self.next(max(intended, slots, archive ?? 0)) }

  static func next(_ number: UInt64) -> UInt64 { number == .max ? number : number + 1 }
}
