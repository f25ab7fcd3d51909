internal import Archive
internal import Glibc
internal import Keying
internal import Lifecycle
internal import Storing

/// Lets the files of a sealed node remember how far each is, in the order that `StateNumbers` says.
actor StateRecorder {
  private let executor = BlockingExecutor(name: "record")
  private let store: MigratingStore
  private let archive: MessageArchive
  private let custody: KeyCustody
  private let key: HeldKey
  private var intended: UInt64
  /// Of the last record that came to its end.
  private var settled: UInt64
  /// What each had written when the last record was made.
  private var recorded: (store: UInt64, archive: UInt64) = (0, 0)

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  init(store: MigratingStore, archive: MessageArchive, custody: KeyCustody, key: HeldKey, numbers: StateNumbers) {
    self.store = store
    self.archive = archive
    self.custody = custody
    self.key = key
    (intended, settled) = (numbers.next, numbers.certain)
  }

  /// The first step of a record.
  ///
  /// - Parameter certain: see `StateNumbers.certain`.
  static func intend(_ number: UInt64, certain: UInt64, in store: MigratingStore) async throws(DaemonError) {
    let values = NodeValues.kept
    do { try await store.put([values.stateCounter.entry(number), values.stateSettled.entry(certain)]) } catch {
      throw .store(error)
    }
  }

  /// The steps after the first.
  func complete() async throws(DaemonError) {
    do { try await archive.remember(number: intended) } catch { throw .history(error) }
    let number = intended
    do throws(KeyingError) {
      try key.lend { (dataKey) throws(KeyingError) in try custody.count(to: number, with: dataKey) }
    } catch {
      throw .keying(error)
    }
    let phase = await archive.sealing.phase
    let fact = phase == .plain ? StateLook.ArchiveFact.isThere : .isSealed
    do {
      try await store.put([
        NodeValues.kept.stateSettled.entry(intended), NodeValues.kept.archiveFact.entry(fact.rawValue),
      ])
    } catch {
      throw .store(error)
    }
    settled = number
    recorded = await written()
  }

  /// All of a record.
  func record() async throws(DaemonError) {
    let certain = settled
    intended = StateNumbers.next(intended)
    try await Self.intend(intended, certain: certain, in: store)
    try await complete()
  }

  /// A record, where something was written since the last one.
  func recordIfWritten() async throws(DaemonError) {
    guard await written() != recorded else { return }
    try await record()
  }

  /// The last record of a process; the files need no logs after it.
  func end() async throws(DaemonError) {
    try await record()
    do { try await archive.checkpoint() } catch { throw .history(error) }
    do { try await store.checkpoint() } catch { throw .store(error) }
  }

  private func written() async -> (store: UInt64, archive: UInt64) {
    (await store.writes(), await archive.writes())
  }
}
