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

  static func open(
    _ state: StateDirectory, keys: KeySource?, environment: [String: String], wall: @escaping @Sendable () -> UInt64
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
    return try await sealed(state, custody, opened, isEmpty: inventory.state.isEmpty, wall)
  }

  private static func sealed(
    _ state: StateDirectory, _ custody: KeyCustody, _ opened: consuming OpenedKeys, isEmpty: Bool,
    _ wall: @escaping @Sendable () -> UInt64
  ) async throws(DaemonError) -> StateVault {
    let key = HeldKey(Secret(copying: opened.dataKey.bytes))
    let provider = SealedFileProvider(path: state.storePath, storeID: opened.storeID, random: .system) {
      () throws(SealedStoreError) in key.copy()
    }
    try await StateCounter.check(state, provider, last: opened.stateCounter)
    let store: MigratingStore
    do {
      store = try MigratingStore(
        plainPath: state.plainPath, provider: provider, settings: Migration.Settings(beginsByItself: false),
        mayBegin: isEmpty, beginsSealed: isEmpty, wall: wall)
    } catch {
      throw .store(error)
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
    return StateVault(store: store, migrating: store, archive: archive, protection: opened.protection, wall: wall)
  }

  private static func plain(
    _ state: StateDirectory, _ wall: @escaping @Sendable () -> UInt64
  ) throws(DaemonError) -> StateVault {
    do {
      return StateVault(
        store: try PlainStore(path: state.plainPath), migrating: nil,
        archive: try MessageArchive(path: state.archivePath), protection: .none, wall: wall)
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
private final class HeldKey: Sendable {
  private let secret: Secret

  init(_ secret: consuming Secret) { self.secret = secret }

  func copy() -> Secret { Secret(joining: secret, Secret(count: 0) { _ in }) }
}

/// How often this node was opened, as the store and the slot file both remember it: a file that was put back from a copy
/// has another number.
///
/// The store is told first and the slot file then, so after a process that died in between the store is one ahead. Both
/// put back together look as they did: that nothing on the same disk can tell.
enum StateCounter {
  static let name = "state.counter"

  /// Before anything is written: a file that is refused stays as it is.
  static func check(_ state: StateDirectory, _ provider: any SealedProvider, last: UInt64) async throws(DaemonError) {
    let kept: [UInt8]?
    do {
      kept = try await read(state, provider)
    } catch let error as SealedStoreError {
      throw .store(.sealed(error))
    } catch let error as DatabaseError {
      throw .database(error)
    } catch let error as StoreError {
      throw .store(error)
    } catch {
      throw .primitive
    }
    // A store that knows no number yet was just moved here, or begins.
    let remembered = kept.map { $0.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } } ?? (last <= 1 ? last : 0)
    guard remembered == last || remembered == last &+ 1 else {
      throw .stateRestored(directory: state.path, StateCounterVerdict(remembered: remembered, before: last))
    }
  }

  /// While there is a plain store, what it says is right.
  private static func read(_ state: StateDirectory, _ provider: any SealedProvider) async throws -> [UInt8]? {
    if unsafe access(state.plainPath, F_OK) == 0 { return try await PlainStore(path: state.plainPath).get(name) }
    guard provider.exists else { return nil }
    guard case .value(let bytes) = try provider.open(mayBegin: false).read(name) else { return nil }
    return bytes
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
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: next(last) >> (56 - 8 * UInt64($0))) }
    do { try await store.put([(name, bytes)], isErasing: false) } catch { throw .store(error) }
  }
}
