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
  let store: any KeyValueStore
  /// Nothing while no holder of a key is named.
  let migrating: MigratingStore?
  let archive: MessageArchive
  let protection: AtRestProtection
  let wall: @Sendable () -> UInt64
  /// Nothing in a plain node.
  let key: HeldKey?
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
      return try plain(state, wall)
    }
    let provider = try keying { () throws(KeyingError) in try keys.provider(prompt: "Passphrase of this node: ") }
    let isLegacy = !inventory.hasSlotFile && !inventory.plain.isEmpty && inventory.sealed.isEmpty
    if isLegacy {
      _ = try keying { () throws(KeyingError) in try custody.create(with: provider, isMigration: true).stateCounter }
    }
    let opened = try keying { () throws(KeyingError) in try custody.open(with: provider, isCounted: false) }
    return try await sealed(state, custody, opened, isEmpty: inventory.state.isEmpty, proving, wall)
  }

  private static func sealed(
    _ state: StateDirectory, _ custody: KeyCustody, _ opened: consuming OpenedKeys, isEmpty: Bool,
    _ proving: Migration.Settings, _ wall: @escaping @Sendable () -> UInt64
  ) async throws(DaemonError) -> StateVault {
    let key = HeldKey(Secret(copying: opened.dataKey.bytes))
    let provider = SealedFileProvider(path: state.storePath, storeID: opened.storeID, random: .system) {
      () throws(SealedStoreError) in key.copy()
    }
    let counter = StateCounter(last: opened.stateCounter)
    let store: MigratingStore
    do {
      store = try MigratingStore(
        plainPath: state.plainPath, provider: provider, settings: proving,
        mayBegin: isEmpty, beginsSealed: isEmpty, proof: counter.proof, wall: wall)
    } catch {
      guard case .migration(.disproved) = error, let verdict = counter.verdict else { throw .store(error) }
      throw .stateRestored(directory: state.path, verdict)
    }
    try await StateCounter.raise(in: store, last: opened.stateCounter)
    do { try await store.advance() } catch { throw .store(error) }
    let isSealed = (try? await store.status())?.migration.phase == .sealed
    let archive: MessageArchive
    do throws(ArchiveError) {
      archive = try MessageArchive(
        path: state.archivePath, key: isSealed ? try archiveKey(opened) : nil, mayBePlain: true)
    } catch {
      throw .archive(error)
    }
    try await StateCounter.check(archive, directory: state.path, last: opened.stateCounter)
    do { _ = try await archive.remember(opening: StateCounter.next(opened.stateCounter)) } catch {
      throw .archive(.file(path: state.archivePath, code: EIO))
    }
    try keying { () throws(KeyingError) in try custody.count(opened) }
    return StateVault(
      store: store, migrating: store, archive: archive, protection: opened.protection, wall: wall, key: key)
  }

  private static func plain(
    _ state: StateDirectory, _ wall: @escaping @Sendable () -> UInt64
  ) throws(DaemonError) -> StateVault {
    do {
      return StateVault(
        store: try PlainStore(path: state.plainPath), migrating: nil,
        archive: try MessageArchive(path: state.archivePath), protection: .none, wall: wall, key: nil)
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

  func copy() -> Secret {
    taken.withLock { $0 += 1 }
    return Secret(joining: secret, Secret(count: 0) { _ in })
  }
}

/// How often this node was opened, as the store and the slot file both remember it: a file that was put back from a copy
/// has another number.
///
/// The store is told first and the slot file then, so after a process that died in between the store is one ahead. Both
/// put back together look as they did: that nothing on the same disk can tell.
final class StateCounter: Sendable {
  private let last: UInt64
  private let found = Protected<StateCounterVerdict?>(nil)

  init(last: UInt64) { self.last = last }

  /// Why the store was refused.
  var verdict: StateCounterVerdict? { found.withLock { $0 } }

  /// While there is a plain store, what it says is right.
  var proof: StoreProof {
    StoreProof(of: NodeValues.kept.stateCounter.name) { bytes in
      // A store that knows no number yet was just moved here, or begins.
      let remembered = bytes.map { NodeValues.kept.stateCounter.value(of: $0) } ?? (self.last <= 1 ? self.last : 0)
      guard let remembered, remembered == self.last || remembered == self.last &+ 1 else {
        self.found.withLock { $0 = StateCounterVerdict(remembered: remembered ?? 0, before: self.last) }
        return false
      }
      return true
    }
  }

  /// An archive that remembers no number was just sealed, or begins.
  static func check(_ archive: MessageArchive, directory: String, last: UInt64) async throws(DaemonError) {
    let kept: UInt64?
    do { kept = try await archive.rememberedOpening() } catch { throw .archive(.file(path: directory, code: EIO)) }
    guard let kept, kept != last, kept != next(last) else { return }
    throw .stateRestored(directory: directory, StateCounterVerdict(remembered: kept, before: last))
  }

  static func next(_ last: UInt64) -> UInt64 { last == .max ? last : last + 1 }

  static func raise(in store: any KeyValueStore, last: UInt64) async throws(DaemonError) {
    do { try await NodeValues.kept.stateCounter.set(next(last), in: store) } catch {
      switch error {
      case .store(let error): throw .store(error)
      case .unreadable: throw .primitive
      }
    }
  }
}
