internal import Archive
internal import ControlAPI
internal import Database
internal import Keying
internal import Storing

/// What the control socket asks of the store.
extension StateVault {
  func record() async throws(ControlError) -> StoreRecord {
    guard let migrating else {
      let names = try await Self.asking { () async throws(StoreError) in try await store.names() }
      return StoreRecord(
        phase: .plain, protection: .none, plainValues: names.count, sealedValues: nil, markedNames: 0,
        openMismatches: 0, troubles: [], missing: [StoreRecord.Missing(kind: .word)], canRollBack: false,
        history: await history(), lyingOpen: await openFiles())
    }
    let status = try await Self.asking { () async throws(StoreError) in try await migrating.status() }
    return StoreRecord(
      status, protection: protection, history: await history(), lyingOpen: await openFiles())
  }

  func migrate(isImpatient: Bool) async throws(ControlError) -> StoreRecord {
    let migrating = try moving()
    let progress = progress
    defer { progress.end() }
    _ = try await Self.asking { () async throws(StoreError) in
      try await migrating.migrate(isImpatient: isImpatient) { progress.show($0) }
    }
    return try await record()
  }

  func verify() async throws(ControlError) -> StoreReport {
    let migrating = try moving()
    let progress = progress
    defer { progress.end() }
    let report = try await Self.asking { () async throws(StoreError) in
      try await migrating.verify { progress.show($0) }
    }
    let phase = try await Self.asking { () async throws(StoreError) in try await migrating.status().migration.phase }
    let isAlone = phase == .sealed
    return StoreReport(
      compared: isAlone ? 0 : report.compared, copied: report.copied, settled: report.settled,
      mismatches: report.mismatches, opened: isAlone ? report.compared : nil)
  }

  func rollBack() async throws(ControlError) -> StoreRecord {
    let migrating = try moving()
    try await Self.asking { () async throws(StoreError) in try await migrating.rollback() }
    return try await record()
  }

  /// The files of the state that whoever has the disk reads, by name; none once everything is sealed.
  func openFiles() async -> [String] {
    let names = (try? KeyCustody(directory: directory, surroundings: .system(environment: [:])).inventory())
    var open = (names?.plain ?? []).filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    if await archive.sealing.phase != .sealed { open.append("archive.db") }
    return open + OpenFiles.drafts(in: directory) + OpenFiles.quarantined(in: directory)
  }

  private func history() async -> StoreRecord.History {
    let sealing = await archive.sealing
    let account = await archive.writes(now: wall())
    let phase: StoreRecord.History.Phase =
      switch sealing.phase {
      case .plain: .plain
      case .sealing, .scrubbing: .sealing
      case .sealed: .sealed
      case .unsealing: .unsealing
      }
    let damage = await archive.damage.map {
      StoreRecord.History.Damage(messages: $0.numbers, first: $0.first, last: $0.last)
    }
    let unopened = await archive.unreadableRows
    return StoreRecord.History(
      phase: phase, done: sealing.done, total: sealing.total, bytesWrittenToday: account.bytesToday,
      bytesWrittenYesterday: account.bytesYesterday, isOverBudget: account.isOverBudget,
      bytesPerDay: ArchiveLimits.bytesWrittenPerDay, damage: damage,
      unopened: unopened > 0 ? UInt64(unopened) : nil)
  }

  private func moving() throws(ControlError) -> MigratingStore {
    guard let migrating else {
      throw ControlError(
        .notReady, "Nothing is named that holds a key: start the daemon with --key file:PATH, passphrase or credential."
      )
    }
    return migrating
  }

  private static func asking<Result: Sendable>(
    _ body: () async throws(StoreError) -> Result
  ) async throws(ControlError) -> Result {
    do throws(StoreError) { return try await body() } catch { throw ControlError(error) }
  }
}

extension ControlError {
  fileprivate init(_ error: StoreError) {
    switch error {
    case .migration(.plainIsGone):
      self.init(.notReady, "The plain store is deleted already; there is no way back.")
    case .migration(.mismatches(let count)):
      self.init(
        .notReady, "\(count) values differ between the stores; look into it, then settle them with store.verify.",
        limit: count)
    case .migration(.undecided):
      self.init(.notReady, "Whether the plain store is still needed cannot be read; restart the daemon.")
    case .database(let error) where error.isFull: self.init(.internal, "The disk is full; nothing was lost.")
    default: self.init(.internal, "The store cannot do this: \(error)")
    }
  }
}

extension DatabaseError {
  var isFull: Bool {
    if case .full = self { return true }
    return false
  }
}

extension StoreRecord.Phase {
  init(_ phase: Migration.Phase) {
    switch phase {
    case .plain: self = .plain
    case .doubleWrite: self = .doubleWrite
    case .verify: self = .verify
    case .copyAll: self = .copyAll
    case .sealed: self = .sealed
    }
  }
}

extension StoreRecord {
  fileprivate init(_ status: MigrationStatus, protection: AtRestProtection, history: History, lyingOpen: [String]) {
    let troubles = Migration.Trouble.allCases.compactMap { trouble -> Trouble? in
      let seen = status.migration.occurrences(of: trouble)
      guard seen.count > 0 else { return nil }
      return Trouble(
        kind: Trouble.Kind(trouble), count: seen.count, firstMilliseconds: seen.first, lastMilliseconds: seen.last)
    }
    self.init(
      phase: Phase(status.migration.phase), protection: Protection(protection), plainValues: status.plainValues,
      sealedValues: status.sealedValues, markedNames: status.markedNames, openMismatches: status.openMismatches,
      troubles: troubles, missing: status.missing.map(Missing.init), canRollBack: status.canRollBack,
      leftover: status.leftover, history: history, lyingOpen: lyingOpen)
  }
}

extension StoreRecord.Trouble.Kind {
  fileprivate init(_ trouble: Migration.Trouble) {
    switch trouble {
    case .keyFetch: self = .keyFetch
    case .open: self = .open
    case .seal: self = .seal
    case .write: self = .write
    case .mismatch: self = .mismatch
    }
  }
}

extension StoreRecord.Missing {
  fileprivate init(_ missing: Migration.Missing) {
    switch missing {
    case .sealedStore: self.init(kind: .sealedStore)
    case .mismatches(let count): self.init(kind: .mismatches, count: UInt64(clamping: count))
    case .names(let count): self.init(kind: .names, count: UInt64(clamping: count))
    case .room(let count): self.init(kind: .room, count: UInt64(clamping: count))
    case .milliseconds(let count): self.init(kind: .milliseconds, count: count)
    case .restarts(let count): self.init(kind: .restarts, count: UInt64(clamping: count))
    case .word: self.init(kind: .word)
    }
  }
}

extension StoreRecord.Protection {
  fileprivate init(_ protection: AtRestProtection) {
    switch protection {
    case .credential: self = .credential
    case .passphrase: self = .passphrase
    case .keyFileElsewhere: self = .keyFile
    case .none: self = .none
    }
  }
}
