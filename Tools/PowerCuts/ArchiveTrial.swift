internal import Archive
internal import Bytes
internal import Identities
internal import Primitives
internal import Sessions

/// An archive of messages that does everything it is asked for in a day, on a disk of which one call fails; then the
/// power is cut as well. What was acknowledged has to be there, and nothing that was never asked for.
package struct ArchiveTrial: Sendable {
  package enum Start: CaseIterable, Sendable {
    /// No file: it is made, and sealed from the beginning.
    case nothing
    /// A sealed one with messages.
    case sealed
    /// A plain one with messages, which is sealed while it is used.
    case plain
  }

  package struct Outcome: Sendable {
    /// Calls of the archive that threw.
    package var errors = 0
    /// Their words.
    package var reasons: Set<String> = []
    /// Calls of the disk that were failed.
    package var faults = 0
    /// What is not as it has to be.
    package var fault: String?
  }

  private struct Wrong: Error { var text: String }

  private static let name = "/archive.db"
  private static let old: UInt64 = 1_000
  private static let now: UInt64 = 1_700_000_000_000
  private static let (ada, bob) = (PeerID(high: 1, low: 1), PeerID(high: 2, low: 2))

  package let start: Start
  private let disk: DiskState
  /// What is there at the beginning.
  private let before: ArchiveBelief

  package init(_ start: Start) async throws {
    self.start = start
    var before = ArchiveBelief()
    let disk = CutDisk()
    if start != .nothing {
      let archive = try Self.open(disk, isSealed: start == .sealed)
      for number in 1...20 as ClosedRange<UInt64> {
        let message = Self.message(number)
        _ = try await archive.insert(message)
        before.messages[message.id] = Allowed(message)
      }
      let contact = Contact(peer: Self.bob, name: try PeerName("bob"))
      try await archive.save(contact)
      before.contacts[Self.bob] = Allowed(contact)
      try await archive.appendSeen([(number: 1, content: [1, 2, 3])], firstKept: 1, isPromised: true)
      before.seen[1] = Allowed([1, 2, 3])
    }
    disk.cut()
    self.disk = disk.snapshot.afterCut(.nothing)
    self.before = before
  }

  /// Numbers of the calls that can fail this way.
  package func calls(_ fault: CutDisk.Fault) async -> [Int] {
    let disk = CutDisk(disk)
    _ = await live(disk)
    return fault == .inputOutput ? Array(0..<disk.callCount) : disk.writeCalls.sorted()
  }

  package func run(_ fault: CutDisk.Fault, atCall call: Int, seed: UInt64) async -> Outcome {
    let disk = CutDisk(disk)
    disk.inject(fault, atCall: call)
    var (outcome, belief) = await live(disk)
    outcome.faults = disk.faultCount
    disk.cut()
    for leftover in [Leftover.nothing, .everything, .some(seed: seed)] where outcome.fault == nil {
      do { try await look(CutDisk(disk.snapshot.afterCut(leftover)), belief) } catch {
        outcome.fault = "after a cut that leaves \(leftover): \((error as? Wrong)?.text ?? "\(error)")"
      }
    }
    return outcome
  }

  // MARK: - A day of it

  private static func open(_ disk: CutDisk, isSealed: Bool) throws(ArchiveError) -> MessageArchive {
    let key: ArchiveKey?
    do {
      let dataKey = Secret(copying: [UInt8](repeating: 7, count: 32).rawSpan)
      key = isSealed ? try ArchiveKey(dataKey: dataKey, storeID: Array(1...16)) : nil
    } catch { throw .primitive(error) }
    return try MessageArchive(path: disk.directory + name, key: key, on: disk)
  }

  /// The first ten are old enough to go.
  private static func message(_ number: UInt64) -> StoredMessage {
    StoredMessage(
      id: MessageID(high: 7, low: number), conversation: number % 3 == 0 ? .peer(bob) : .everyone,
      author: number % 2 == 0 ? ada : bob, authorName: "Ada", isFromBot: false, isEcho: false,
      text: "message \(number) " + String(repeating: "x", count: Int(number % 7) * 90), sentMilliseconds: now,
      storedMilliseconds: number <= 10 ? old : now, hops: 1, path: [], state: number % 5 == 0 ? .accepted : .received,
      packet: number % 5 == 0 ? [1, 2] : nil)
  }

  private func live(_ disk: CutDisk) async -> (outcome: Outcome, belief: ArchiveBelief) {
    var (outcome, belief) = (Outcome(), before)
    let archive: MessageArchive
    do { archive = try Self.open(disk, isSealed: true) } catch {
      outcome.errors += 1
      if case .database = error {} else { outcome.fault = "refused for another reason: \(error)" }
      disk.heal()
      do { archive = try Self.open(disk, isSealed: true) } catch {
        outcome.fault = "after a failed start it does not start: \(error)"
        return (outcome, belief)
      }
    }
    do {
      try await write(archive, &belief, &outcome)
      try await read(archive, belief, &outcome)
      _ = try await attempt(&outcome) { _ = try await archive.sealAll() }
      disk.heal()
      // It goes on, or says that it does not.
      try await insert(Self.message(900), archive, &belief, &outcome)
      try await read(archive, belief, &outcome)
    } catch { outcome.fault = (error as? Wrong)?.text ?? "\(error)" }
    return (outcome, belief)
  }

  /// - Returns: whether it was acknowledged.
  private func attempt(_ outcome: inout Outcome, _ body: () async throws -> Void) async throws -> Bool {
    do {
      try await body()
      return true
    } catch let error as SessionStoreError {
      outcome.errors += 1
      outcome.reasons.insert(error.reason)
      return false
    }
  }

  private func insert(
    _ message: StoredMessage, _ archive: MessageArchive, _ belief: inout ArchiveBelief, _ outcome: inout Outcome
  ) async throws {
    belief.messages[message.id, default: Allowed(nil)].allow(message)
    if try await attempt(&outcome, { _ = try await archive.insert(message) }) {
      belief.messages[message.id] = Allowed(message)
    }
  }

  private func write(
    _ archive: MessageArchive, _ belief: inout ArchiveBelief, _ outcome: inout Outcome
  ) async throws {
    for number in 21...60 as ClosedRange<UInt64> {
      try await insert(Self.message(number), archive, &belief, &outcome)
    }
    // Ten at the same time, which share a transaction.
    let group = (61...70 as ClosedRange<UInt64>).map(Self.message)
    let answers = await withTaskGroup(of: (MessageID, String?).self) { tasks in
      for message in group {
        tasks.addTask {
          do throws(SessionStoreError) {
            _ = try await archive.insert(message)
            return (message.id, nil)
          } catch { return (message.id, error.reason) }
        }
      }
      return await tasks.reduce(into: [MessageID: String?]()) { $0[$1.0] = .some($1.1) }
    }
    for message in group {
      let reason = answers[message.id] ?? nil
      belief.messages[message.id, default: Allowed(nil)].allow(message)
      if reason == nil { belief.messages[message.id] = Allowed(message) }
      if let reason {
        outcome.errors += 1
        outcome.reasons.insert(reason)
      }
    }
    // Receipts.
    for number in stride(from: 25 as UInt64, through: 60, by: 5) {
      let message = Self.message(number)
      let former = belief.messages[message.id, default: Allowed(nil)]
      var later = former
      later.change { $0.state = .sent }
      belief.messages[message.id] = former.or(later)
      let isDone = try await attempt(&outcome) {
        try await archive.setState(.sent, of: message.id, author: message.author)
      }
      if isDone { belief.messages[message.id] = later }
    }
    for name in ["carol", "carla"] {
      let carol = Contact(peer: Self.ada, name: try PeerName(name), state: .verified)
      belief.contacts[Self.ada, default: Allowed(nil)].allow(carol)
      if try await attempt(&outcome, { try await archive.save(carol) }) { belief.contacts[Self.ada] = Allowed(carol) }
    }
    belief.contacts[Self.bob, default: Allowed(nil)].allow(nil)
    if try await attempt(&outcome, { try await archive.removeContact(Self.bob) }) {
      belief.contacts[Self.bob] = Allowed(nil)
    }
    for number in 2...4 as ClosedRange<Int64> {
      let content = [UInt8](repeating: UInt8(number), count: 700)
      belief.seen[number, default: Allowed(nil)].allow(content)
      let isDone = try await attempt(&outcome) {
        try await archive.appendSeen([(number: number, content: content)], firstKept: 1, isPromised: true)
      }
      if isDone { belief.seen[number] = Allowed(content) }
    }
    try await trim(archive, &belief, &outcome)
  }

  private func trim(
    _ archive: MessageArchive, _ belief: inout ArchiveBelief, _ outcome: inout Outcome
  ) async throws {
    let old = belief.messages.keys.filter { $0.low <= 10 }
    for id in old { belief.messages[id, default: Allowed(nil)].allow(nil) }
    let isDone = try await attempt(&outcome) {
      while try await !archive.trim(RetentionPolicy(), now: Self.now).isDone {}
    }
    if isDone { for id in old { belief.messages[id] = Allowed(nil) } }
  }

  private func read(
    _ archive: MessageArchive, _ belief: ArchiveBelief, _ outcome: inout Outcome
  ) async throws {
    for (id, allowed) in belief.messages where id.low.isMultiple(of: 9) {
      var found: StoredMessage??
      _ = try await attempt(&outcome) { found = .some(try await archive.message(id)) }
      if let found, !allowed.contains(found) { throw Wrong(text: "message \(id.low) is neither old nor new") }
    }
    guard let words = SearchWords("message") else { throw Wrong(text: "no search") }
    var hits: Set<MessageID> = []
    if try await attempt(
      &outcome, { for try await hit in archive.search(words, limit: 500) { hits.insert(hit.message.id) } })
    {
      let missed = belief.messages.filter { !$0.value.contains(nil) && !hits.contains($0.key) }
      guard missed.isEmpty else { throw Wrong(text: "a search misses \(missed.keys.map(\.low).sorted())") }
    }
    var lines = 0
    let isWhole = try await attempt(&outcome) {
      _ = try await archive.export { _ in
        lines += 1; return true
      }
    }
    let least = belief.messages.values.count { !$0.contains(nil) }
    guard !isWhole || lines >= least else { throw Wrong(text: "\(lines) of \(least) messages are exported") }
    _ = try await attempt(&outcome) { _ = try await archive.rememberedNumber() }
    guard await archive.unreadableRows == 0 else { throw Wrong(text: "a row does not open") }
  }

  // MARK: - Afterwards

  private func look(_ disk: CutDisk, _ belief: ArchiveBelief) async throws {
    defer { disk.cut() }
    let archive = try Self.open(disk, isSealed: true)
    let found = Dictionary(try await archive.messages(limit: 1_000).map { ($0.id, $0) }) { first, _ in first }
    for id in Set(found.keys).union(belief.messages.keys) {
      guard belief.messages[id, default: Allowed(nil)].contains(found[id]) else {
        throw Wrong(text: "message \(id.low) is \(found[id].map { "\($0.state)" } ?? "not there")")
      }
    }
    let contacts = Dictionary(try await archive.contacts(limit: 10).map { ($0.peer, $0) }) { first, _ in first }
    for peer in Set(contacts.keys).union(belief.contacts.keys) {
      guard belief.contacts[peer, default: Allowed(nil)].contains(contacts[peer]) else {
        throw Wrong(text: "contact \(peer)")
      }
    }
    let seen = Dictionary(try await archive.seenRows(below: nil, limit: 10).map { ($0.number, $0.content) }) { $1 }
    for number in Set(seen.keys).union(belief.seen.keys) {
      guard belief.seen[number, default: Allowed(nil)].contains(seen[number] ?? nil) else {
        throw Wrong(text: "seen \(number)")
      }
    }
    guard try await archive.sealAll().phase == .sealed else { throw Wrong(text: "it is not sealed to its end") }
    while true {
      switch try await archive.checkNext().outcome {
      case .goingOn: continue
      case .sound: break
      case .damaged(let number): throw Wrong(text: "damaged after \(number)")
      }
      break
    }
    guard try await archive.insert(Self.message(901)) else { throw Wrong(text: "it takes no message") }
    guard await archive.unreadableRows == 0 else { throw Wrong(text: "a row does not open") }
  }
}

/// What an archive may hold: of everything one value, or after a call that failed the former one too.
private struct ArchiveBelief: Sendable {
  var messages: [MessageID: Allowed<StoredMessage>] = [:]
  var contacts: [PeerID: Allowed<Contact>] = [:]
  var seen: [Int64: Allowed<[UInt8]>] = [:]
}

/// The values that something may have, nothing among them when it may be missing.
private struct Allowed<Value: Equatable & Sendable>: Sendable {
  private var values: [Value?]

  init(_ value: Value?) { values = [value] }

  mutating func allow(_ value: Value?) { if !values.contains(value) { values.append(value) } }
  func contains(_ value: Value?) -> Bool { values.contains(value) }

  mutating func change(_ body: (inout Value) -> Void) {
    values = values.map { value in
      guard var value else { return nil }
      body(&value)
      return value
    }
  }

  func or(_ other: Allowed) -> Allowed {
    var both = self
    for value in other.values { both.allow(value) }
    return both
  }
}
