internal import Archive
internal import Database
internal import Glibc
internal import Keying
internal import Primitives
internal import Storing
internal import Streams

/// What a node keeps on disk, opened: settings and keys, messages and contacts.
///
/// Without a holder of a key named, a directory of earlier builds, or an empty one, is kept plainly; one that has a slot
/// file is refused. With one, an empty directory is refused, because only `init` makes keys, and a plain one gets a slot
/// file and stays plain until `store.migrate` is called. On every refusal the files are as they were.
struct StateVault: Sendable {
  let directory: String
  let store: any KeyValueStore
  /// Nothing while no holder of a key is named.
  let migrating: MigratingStore?
  let archive: MessageArchive
  let protection: AtRestProtection
  let wall: @Sendable () -> UInt64
  /// Nothing in a plain node.
  let key: HeldKey?
  let recorder: StateRecorder?
  /// Told without waiting for the store, which is busy meanwhile.
  let progress = StoreProgressBoard()

  static func open(
    _ state: StateDirectory, keys: KeySource?, environment: [String: String],
    proving: Migration.Settings = Migration.Settings(beginsByItself: false), wall: @escaping @Sendable () -> UInt64
  ) async throws(DaemonError) -> StateVault {
    let custody = KeyCustody(directory: state.path, surroundings: .system(environment: environment))
    let inventory = try inventory(of: custody)
    guard let keys else {
      if inventory.hasMark { _ = try keying { () throws(KeyingError) in try custody.open(with: .credential()) } }
      guard !inventory.hasSlotFile else {
        throw .noKeyNamed(try keying { () throws(KeyingError) in try custody.readSlots().kinds })
      }
      try refuseSealed(state, inventory)
      return try plain(state, wall)
    }
    let provider = try keying { () throws(KeyingError) in try keys.provider(prompt: "Passphrase of this node: ") }
    let isLegacy = !inventory.hasSlotFile && !inventory.plain.isEmpty && inventory.sealed.isEmpty
    if isLegacy {
      try refuseSealed(state, inventory)
      _ = try keying { () throws(KeyingError) in try custody.create(with: provider, isMigration: true).stateCounter }
    }
    let opened = try keying { () throws(KeyingError) in try custody.open(with: provider, isCounted: false) }
    let look = try StateLook.at(
      state, dataKey: opened.dataKey, storeID: opened.storeID, counter: opened.stateCounter)
    return try await sealed(state, custody, opened, look, proving, wall)
  }

  /// Nothing begins beside what lost keys have sealed, and no file is made there.
  private static func refuseSealed(_ state: StateDirectory, _ inventory: StateInventory) throws(DaemonError) {
    let archive: ArchiveLook
    do { archive = try ArchiveLook.at(state.archivePath, key: nil) } catch { throw .archive(error) }
    var lost = inventory.sealed + (inventory.hasBackup ? [StateInventory.backup] : [])
    if case .sealed = archive { lost.append(contentsOf: inventory.archive) }
    guard lost.isEmpty else {
      throw .keying(.slotFileLost(path: state.path + "/" + StateInventory.slotFile, found: lost))
    }
    guard inventory.plain.isEmpty, archive == .plain(isEmpty: false) else { return }
    throw .identity(.missing)
  }

  private static func sealed(
    _ state: StateDirectory, _ custody: KeyCustody, _ opened: consuming OpenedKeys, _ look: StateLook,
    _ proving: Migration.Settings, _ wall: @escaping @Sendable () -> UInt64
  ) async throws(DaemonError) -> StateVault {
    let key = HeldKey(Secret(copying: opened.dataKey.bytes))
    let provider = SealedFileProvider(path: state.storePath, storeID: opened.storeID, random: .system) {
      () throws(SealedStoreError) in key.copy()
    }
    let store: MigratingStore
    do {
      store = try MigratingStore(
        plainPath: state.plainPath, provider: provider, settings: proving,
        mayBegin: look.mayBegin, beginsSealed: look.mayBegin, wall: wall)
    } catch { throw .store(error) }
    let next = look.numbers.next
    try await StateRecorder.intend(next, certain: look.numbers.certain, in: store)
    do { try await store.advance() } catch { throw .store(error) }
    let isSealed = (try? await store.status())?.migration.phase == .sealed
    let archive: MessageArchive
    do throws(ArchiveError) {
      archive = try MessageArchive(
        path: state.archivePath, key: isSealed ? try archiveKey(opened) : nil, mayBePlain: look.mayArchiveBePlain)
    } catch {
      throw .archive(error)
    }
    let recorder = StateRecorder(store: store, archive: archive, custody: custody, key: key, numbers: look.numbers)
    try await recorder.complete()
    return StateVault(
      directory: state.path, store: store, migrating: store, archive: archive, protection: opened.protection,
      wall: wall,
      key: key, recorder: recorder)
  }

  private static func plain(
    _ state: StateDirectory, _ wall: @escaping @Sendable () -> UInt64
  ) throws(DaemonError) -> StateVault {
    do {
      return StateVault(
        directory: state.path, store: try PlainStore(path: state.plainPath), migrating: nil,
        archive: try MessageArchive(path: state.archivePath), protection: .none, wall: wall, key: nil,
        recorder: nil)
    } catch {
      throw .database(error)
    }
  }

  private static func archiveKey(_ keys: borrowing OpenedKeys) throws(ArchiveError) -> ArchiveKey {
    do { return try ArchiveKey(dataKey: keys.dataKey, storeID: keys.storeID) } catch { throw .primitive(error) }
  }

  private static func inventory(of custody: KeyCustody) throws(DaemonError) -> StateInventory {
    try keying { () throws(KeyingError) in try custody.inventory() }
  }

  private static func keying<Result: ~Copyable>(
    _ body: () throws(KeyingError) -> Result
  ) throws(DaemonError) -> Result {
    do throws(KeyingError) { return try body() } catch { throw .keying(error) }
  }
}

/// The data key, for as long as the process may have to open its store again.
final class HeldKey: Sendable {
  private let secret: Secret
  private let taken = Protected(0)

  init(_ secret: consuming Secret) { self.secret = secret }

  /// How often a store was opened with it, and derived its keys from it.
  var timesTaken: Int { taken.withLock { $0 } }

  /// For whoever opens no store with it.
  func lend<Result>(_ body: (borrowing Secret) throws(KeyingError) -> Result) throws(KeyingError) -> Result {
    try body(secret)
  }

  func copy() -> Secret {
    taken.withLock { $0 += 1 }
    return Secret(joining: secret, Secret(count: 0) { _ in })
  }
}
