internal import Archive
internal import Keying
internal import Primitives
internal import Storing

/// A record of `StateNumbers` that a verb makes while no node runs.
struct OfflineRecord {
  let state: StateDirectory
  let look: StateLook

  /// Tells the files of a new number around `change`, which writes the slot file; a former slot file is an old one after
  /// that. Where it fails, what was intended goes on with the next record.
  ///
  /// - Parameter change: is given the number; nothing where no node ever ran, and there is nobody to tell.
  func make(
    with keys: borrowing OpenedKeys, _ change: (UInt64?) throws(KeyingError) -> Void
  ) throws(DaemonError) {
    guard look.isStoreThere else { return try OfflineContext.keying { () throws(KeyingError) in try change(nil) } }
    let number = look.numbers.next
    let values = NodeValues.kept
    try put([values.stateCounter.entry(number), values.stateSettled.entry(look.numbers.certain)], keys)
    if case .sealed = look.archive {
      do throws(ArchiveError) {
        let key: ArchiveKey
        do { key = try ArchiveKey(dataKey: keys.dataKey, storeID: keys.storeID) } catch { throw .primitive(error) }
        try ArchiveNumber.put(number, in: state.archivePath, key: key)
      } catch { throw .archive(error) }
    }
    try OfflineContext.keying { () throws(KeyingError) in try change(number) }
    try put([values.stateSettled.entry(number)], keys)
  }

  /// Puts values into the store that counts.
  func put(_ values: [(name: String, value: [UInt8])], _ keys: borrowing OpenedKeys) throws(DaemonError) {
    do {
      try OfflineStore.put(
        values, plainPath: state.plainPath, sealedPath: state.storePath, isSealed: look.isStoreSealed,
        storeID: keys.storeID, key: Secret(copying: keys.dataKey.bytes))
    } catch { throw .store(error) }
  }
}
