internal import Archive
internal import Database
internal import Keying
internal import Primitives
internal import Storing

/// What the files of a sealed node are and how they stand to each other, before a byte of them is changed.
struct StateLook: Sendable {
  /// What the store remembers of the archive.
  enum ArchiveFact: UInt64, Sendable {
    /// A person said that the history may begin anew.
    case mayBegin = 0
    case isThere = 1
    /// It is sealed, or began to be.
    case isSealed = 2
  }

  let isStoreThere: Bool
  let isStoreSealed: Bool
  let archive: ArchiveLook
  let archiveFact: ArchiveFact?
  let numbers: StateNumbers

  /// Whether the node never ran, or died while its first store was made.
  var mayBegin: Bool { numbers.slots <= 1 && archive == .missing }

  /// Whether a plain archive may still be one of ours that waits to be sealed.
  var mayArchiveBePlain: Bool { archiveFact == nil || archiveFact == .isThere }

  /// Refuses what is lost, foreign, damaged or older than the rest.
  ///
  /// - Parameters:
  ///   - dataKey: lent.
  ///   - counter: of the slot file.
  ///   - mayArchiveBeLost: for the verb that lets a history begin anew, and a backup that has none.
  ///   - mayBeOlder: for a backup, whose files are of one moment each.
  static func at(
    _ state: StateDirectory, dataKey: borrowing Secret, storeID: [UInt8], counter: UInt64,
    mayArchiveBeLost: Bool = false, mayBeOlder: Bool = false
  ) throws(DaemonError) -> StateLook {
    let values = NodeValues.kept
    var store: StoreLook?
    var missing: StoreError?
    do {
      store = try StoreLook.at(
        plainPath: state.plainPath, sealedPath: state.storePath, storeID: storeID, key: Secret(copying: dataKey.bytes),
        names: [values.stateCounter.name, values.stateSettled.name, values.archiveFact.name], mayBegin: counter <= 1)
    } catch {
      guard case .sealed(.missing) = error, counter <= 1 else { throw .store(error) }
      missing = error
    }
    let archive: ArchiveLook
    do {
      archive = try ArchiveLook.at(
        state.archivePath, key: try ArchiveKey(dataKey: dataKey, storeID: storeID))
    } catch let error as ArchiveError {
      throw .archive(error)
    } catch {
      throw .primitive
    }
    // A node that died while its store was made has never run, and has no history.
    if let missing, archive != .missing { throw .store(missing) }
    guard let store else {
      guard counter <= 1, archive == .missing else { throw .store(.sealed(.missing(path: state.storePath))) }
      let numbers = StateNumbers(slots: counter, intended: nil, settled: nil, archive: nil, isArchiveCounted: false)
      return StateLook(
        isStoreThere: false, isStoreSealed: true, archive: archive, archiveFact: nil, numbers: numbers)
    }
    func number(_ setting: StoredSetting<UInt64>) -> UInt64? { store[setting.name].flatMap { setting.value(of: $0) } }
    let fact = number(values.archiveFact).flatMap { ArchiveFact(rawValue: $0) }
    var kept: UInt64?
    switch archive {
    case .missing:
      // The first start makes an archive before it counts.
      guard counter <= 1 || fact == .mayBegin || mayArchiveBeLost else { throw .archiveLost(path: state.archivePath) }
    case .plain: guard fact != .isSealed else { throw .archive(.isPlain(path: state.archivePath)) }
    case .sealed(_, let number):
      // No history is sealed before the store is: this is no store of ours.
      guard store.isSealed else { throw .store(.migration(.foreignPlain(path: state.plainPath))) }
      kept = number
    }
    let numbers = StateNumbers(
      slots: counter, intended: number(values.stateCounter), settled: number(values.stateSettled), archive: kept,
      isArchiveCounted: fact == .isSealed && archive != .missing)
    if !mayBeOlder, let older = numbers.older { throw .stateRestored(directory: state.path, older) }
    return StateLook(
      isStoreThere: true, isStoreSealed: store.isSealed, archive: archive, archiveFact: fact, numbers: numbers)
  }
}
